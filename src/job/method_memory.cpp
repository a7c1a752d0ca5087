// SPDX-License-Identifier: Apache-2.0
#include "job/method_memory.h"

#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include "job/line_integrals.h"
#include "run/float_bytes.h"
#include <lepus/error.h>

namespace lepus {
namespace {

bool has_total_variation(const MethodKind& kind) { return kind.regularised && kind.bounded; }

}  // namespace

VectorNeeds vector_needs(const MethodKind& kind, const MethodOptions& options, std::int64_t views,
                         std::int64_t values_per_view, std::int64_t voxels) {
  const std::int64_t subsets = kind.make == make_sart ? views : kind.subsets ? options.subsets : 1;
  return {.bytes = (kind.data * views * values_per_view + kind.volumes * voxels) * float_bytes,
          .part_bytes = (views + subsets - 1) / subsets * values_per_view * float_bytes,
          .may_spread = !has_total_variation(kind)};
}

void require_host_memory(std::int64_t bytes, const Compute& compute) {
  const std::int64_t limit = host_memory_limit(compute), left = limit - resident_bytes();
  if (bytes <= left) return;
  throw Error(ErrorKind::memory, {.what = "the method's vectors do not fit into the memory",
                                  .where = {},
                                  .why = format("they need {}, {} of {} are left", format_bytes(bytes),
                                                format_bytes(std::max<std::int64_t>(0, left)), format_bytes(limit)),
                                  .hint = "allow more with --memory, use fewer views or voxels, or take fdk"});
}

std::optional<files::Setup> files_for_vectors(std::int64_t method_bytes, std::int64_t views,
                                              std::int64_t values_per_view, const Compute& compute,
                                              const std::filesystem::path& folder) {
  const std::int64_t left = host_memory_limit(compute) - resident_bytes();
  if (method_bytes <= left) return {};
  // What is not counted: threads, tables, what the heap does not give back. While views are read, corrections take the
  // place of the pieces that are worked on later.
  const std::int64_t uncounted = left / 8 + (6 << 20);
  const std::int64_t usable =
      std::max<std::int64_t>(0, left - uncounted - NoiseEstimate::bytes(views, values_per_view));
  return files::Setup{folder, method_bytes, usable / 2, std::max<std::int64_t>(1, usable - usable / 2)};
}

std::string describe(const files::Setup& files, const Compute& compute) {
  return format("{} of {} in files {}: the limit is {}", format_bytes(files.bytes - files.memory_bytes),
                format_bytes(files.bytes), files.folder.empty() ? "beside the output" : "in " + files.folder.string(),
                format_bytes(host_memory_limit(compute)));
}

void require_pieces(const MethodKind& kind, const VolumeShape& shape, const files::Setup& files,
                    const Compute& compute) {
  if (!has_total_variation(kind) || files.work_bytes >= files::smallest_work_bytes(shape)) return;
  throw Error(ErrorKind::memory,
              {.what = "the method's vectors do not fit into the memory, nor do slices of them",
               .where = {},
               .why = format("{} works on {} of slices, {} of {} are left for them", kind.name,
                             format_bytes(files::smallest_work_bytes(shape)), format_bytes(files.work_bytes),
                             format_bytes(host_memory_limit(compute))),
               .hint = "allow more with --memory, use fewer voxels, or take fdk"});
}

std::int64_t spare_bytes(std::int64_t method_bytes, bool on_host, const Device& home, const Compute& compute) {
  const std::int64_t left = on_host ? host_memory_limit(compute) - resident_bytes() : home.memory_limit_bytes();
  return std::max<std::int64_t>(0, (left - method_bytes) / 2);
}

}  // namespace lepus

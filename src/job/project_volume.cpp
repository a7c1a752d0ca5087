// SPDX-License-Identifier: Apache-2.0
#include "job/project_volume.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "core/format.h"
#include "core/memory.h"
#include "device/device.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "job/line_integrals.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr auto float_size = static_cast<std::int64_t>(sizeof(float));

Buffer<float> whole_volume(const VolumeReader& reader, std::int64_t memory_left) {
  const std::int64_t voxels = reader.grid().voxels();
  if (voxels * float_size > memory_left)
    throw Error(ErrorKind::memory, {.what = "the volume does not fit into the memory",
                                    .where = {},
                                    .why = format("it needs {}, {} are left", format_bytes(voxels * float_size),
                                                  format_bytes(std::max<std::int64_t>(0, memory_left))),
                                    .hint = "allow more with --memory, or project a smaller volume"});
  Buffer<float> volume(voxels);
  reader.read(0, reader.grid().nz, volume.data());
  for (std::int64_t i = 0; i < voxels; ++i)
    if (!std::isfinite(volume[i]))
      throw Error(ErrorKind::input, {.what = "a voxel is not a number",
                                     .where = format("voxel {}", i),
                                     .why = "its line integrals would not be numbers",
                                     .hint = "replace it, for example with lepus post"});
  return volume;
}

// As many views at a time as a share of the memory holds.
std::int64_t views_at_a_time(std::int64_t views, std::int64_t pixels, std::int64_t memory_left) {
  return std::clamp<std::int64_t>(memory_left / 4 / (2 * pixels * float_size), 1, views);
}

double squared(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

}  // namespace

VolumeProjectionReport project_volume(const std::filesystem::path& volume_file, const Scan& scan,
                                      const std::filesystem::path& frames, const VolumeProjectionOptions& options,
                                      Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const auto reader = open_volume(volume_file);
  if (const std::string unit = reader->unit(); !unit.empty() && unit != "1/mm")
    context.progress.warning(format("the volume is in {}, not in 1/mm: so are its line integrals, times mm", unit));
  const std::int64_t limit = host_memory_limit(options.compute);
  const Buffer<float> volume = whole_volume(*reader, limit - resident_bytes());

  ReconstructOptions correcting;
  correcting.compute = options.compute;
  std::optional<LineIntegrals> measured;
  if (options.against) measured.emplace(scan, frames, correcting, context);
  ScanGeometry geometry = scan.geometry;
  geometry.recorded_on_arc.reset();
  OperatorOptions operator_options;
  operator_options.model = options.model;
  operator_options.compute = options.compute;
  const Operator scan_operator(geometry, reader->grid(), operator_options);

  VolumeProjectionReport report{.views = geometry.views(),
                                .columns = geometry.columns,
                                .rows = geometry.rows,
                                .kernel = scan_operator.description()};
  const std::int64_t pixels = geometry.columns * geometry.rows;
  const std::int64_t at_a_time = views_at_a_time(report.views, pixels, limit - resident_bytes());
  const auto out = create_frames(frames, {.columns = geometry.columns,
                                          .rows = geometry.rows,
                                          .frames = report.views,
                                          .type = PixelType::f32,
                                          .force = options.force,
                                          .dataset = {}});
  std::vector<float> values, seen(options.against ? static_cast<std::size_t>(pixels) : 0),
      frame(static_cast<std::size_t>(pixels));
  context.progress.begin("projecting", report.views);
  for (std::int64_t first = 0; first < report.views; first += at_a_time) {
    context.cancel.check();
    std::vector<std::int64_t> views(static_cast<std::size_t>(std::min(at_a_time, report.views - first)));
    std::iota(views.begin(), views.end(), first);
    values.resize(views.size() * static_cast<std::size_t>(pixels));
    scan_operator.subset(views).forward({volume.data(), static_cast<std::size_t>(volume.size())}, values);
    for (std::size_t i = 0; i < views.size(); ++i) {
      std::copy_n(values.begin() + static_cast<std::int64_t>(i) * pixels, pixels, frame.begin());
      report.norm += squared(frame);
      if (measured) {
        measured->view(views[i], seen);
        report.measured += squared(seen);
        for (std::size_t k = 0; k < frame.size(); ++k)
          frame[k] = measured->measured().empty() || measured->measured()[k] > 0 ? frame[k] - seen[k] : 0;
        report.residual += squared(frame);
      }
      out->write(frame.data());
      context.progress.advance();
    }
  }
  context.progress.end();
  out->finish();
  if (measured) {
    for (const auto& line : measured->finish()) context.progress.note(line);
    for (const auto& warning : measured->warnings()) context.progress.warning(warning);
  }
  for (double* sum : {&report.norm, &report.measured, &report.residual}) *sum = std::sqrt(*sum);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "job/run_scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "align/center.h"
#include "align/scan_rows.h"
#include "core/format.h"
#include "core/memory.h"
#include "device/device.h"
#include "io/scratch_volume.h"
#include "iterative/saved_states.h"
#include "job/iterate_scan.h"
#include "job/outputs.h"
#include "job/warn_once.h"
#include "run/reconstruct_scan.h"
#include "post/post.h"

namespace lepus {
namespace {

void post_into(const std::filesystem::path& output, const VolumeReader& before, const Scan& scan,
               const ReconstructOptions& options, ReconstructReport& report, Context& context) {
  std::vector<PostSpec> chain;
  for (const CorrectionSpec& step : scan.post) chain.push_back({step, format("{}:{}", scan.file.string(), step.line)});
  const std::int64_t limit = host_memory_limit(options.compute);
  PostOptions post;
  post.input = scan.file.string();
  post.backend = options.compute.backend == "reference" ? "cpu" : options.compute.backend;
  post.device_memory_bytes = options.compute.device_memory_bytes;
  post.memory_bytes = std::max<std::int64_t>(1, limit - resident_bytes());
  post.force = options.force;
  const PostReport done = post_process(before, output, chain, post, context);
  report.output = output;
  report.grid = done.grid;
  report.post = done.steps;
  report.provenance = done.provenance;
  report.seconds += done.seconds;
}

}  // namespace

void find_automatic_center(Scan& scan, Context& context) {
  if (!scan.automatic_center) return;
  // The pre-pass's warnings of a scan whose axis is not known yet are left to the one that follows.
  const CenterScan rows = read_center_rows(scan, {}, context);
  CenterResult found = rows.in_frames(find_center(rows.input, context));
  for (const auto& warning : found.warnings) {
    context.progress.warning(warning);
    scan.warnings.push_back(warning);  // for the volume's provenance
  }
  const bool turned = found.tilt_matters();
  if (!turned) found.in_plane_deg = found.given_in_plane_deg;
  if (found.known) scan.geometry = centred(scan.geometry, found, CenterKey::detector_shift);
  scan.automatic_center = false;
  const std::string line =
      found.known
          ? format("the rotation axis is seen on column {:.2f} +- {:.2f} (the scan file had {:.2f}), by {}{}",
                   found.column, found.column_error, found.given_column, name_of(found.method),
                   turned ? format(", turned by {:.3f} +- {:.3f} degrees", found.in_plane_deg, found.in_plane_error_deg)
                          : "")
          : format("the rotation axis is not known and stays on column {:.2f}, where the scan file has it",
                   found.given_column);
  context.progress.note(line);
  scan.resolved += format("\n# center = \"auto\": {}\n", line);
}

ReconstructReport run_scan(Scan scan, const std::filesystem::path& volume_file, const ReconstructOptions& options,
                           Context& context) {
  WarnOnce progress(context.progress);
  Context once{context.threads, context.cancel, progress};
  check_outputs(scan, volume_file);
  const auto locks = reserve_volume(volume_file, options.force, once.progress);
  find_automatic_center(scan, once);
  const bool iterative = scan.method.iterative();
  if (scan.post.empty())
    return iterative ? iterate_scan(scan, volume_file, options, once)
                     : reconstruct_scan(scan, volume_file, options, once);
  ScratchVolume before(std::filesystem::absolute(volume_file).parent_path(), scan.grid, "1/mm");
  const std::filesystem::path output = files_of_volume(volume_file).front();
  ReconstructReport report = iterative ? iterate_scan(scan, before, output, options, once)
                                       : reconstruct_scan(scan, before, output, options, once);
  post_into(volume_file, before, scan, options, report, once);
  if (iterative) remove_states(output);
  return report;
}

ReconstructReport reconstruct(const std::filesystem::path& scan_file, const std::filesystem::path& volume_file,
                              const ReconstructOptions& options) {
  const CancelFlag never;
  const CancelFlag& cancel = options.cancel ? *options.cancel : never;
  ThreadPool threads(options.compute.threads, &cancel);
  Progress silent;
  Context context{threads, cancel, options.progress ? *options.progress : silent};
  return run_scan(read_scan(scan_file), volume_file, options, context);
}

}  // namespace lepus

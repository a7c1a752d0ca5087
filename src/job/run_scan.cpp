// SPDX-License-Identifier: Apache-2.0
#include "job/run_scan.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <unistd.h>

#include "align/center.h"
#include "align/scan_rows.h"
#include "core/format.h"
#include "core/memory.h"
#include "io/file.h"
#include "job/outputs.h"
#include "job/said_once.h"
#include "pipeline/reconstruct_scan.h"
#include "post/post.h"

namespace lepus {
namespace {

// What [[post]] steps are run on: a volume beside the output, gone when they are done or something fails.
class VolumeBeforePost {
public:
  VolumeBeforePost(const std::filesystem::path& output, bool force) {
    check_target(output, force);
    file_ = output;
    file_.replace_filename(format(".{}.{}.before-post.mha", output.filename().string(), ::getpid()));
  }
  ~VolumeBeforePost() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  VolumeBeforePost(const VolumeBeforePost&) = delete;
  VolumeBeforePost& operator=(const VolumeBeforePost&) = delete;
  const std::filesystem::path& file() const { return file_; }

private:
  std::filesystem::path file_;
};

void post_into(const std::filesystem::path& output, const VolumeBeforePost& before, const Scan& scan,
               const ReconstructOptions& options, ReconstructReport& report, Context& context) {
  std::vector<PostSpec> chain;
  for (const CorrectionSpec& step : scan.post) chain.push_back({step, format("{}:{}", scan.file.string(), step.line)});
  const std::int64_t limit = options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes() * 6 / 10;
  PostOptions post;
  post.input = before.file().string();
  post.backend = options.backend == "reference" ? "cpu" : options.backend;
  post.device_memory_bytes = options.device_memory_bytes;
  post.memory_bytes = std::max<std::int64_t>(1, limit - resident_bytes());
  post.force = options.force;
  const PostReport done = post_process(*open_volume(before.file()), output, chain, post, context);
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
  const CenterResult found = rows.in_frames(find_center(rows.input, context));
  for (const auto& warning : found.warnings) context.progress.warning(warning);
  scan.geometry = centred(scan.geometry, found, CenterKey::detector_shift);
  scan.automatic_center = false;
  const std::string line = format("the rotation axis is seen on column {:.2f} (the scan file had {:.2f}), by {}{}",
                                  found.column, found.given_column, name_of(found.method),
                                  found.tilt_found ? format(", turned by {:.3f} degrees", found.in_plane_deg) : "");
  context.progress.note(line);
  scan.resolved += format("\n# center = \"auto\": {}\n", line);
}

ReconstructReport run_scan(Scan scan, const std::filesystem::path& volume_file, const ReconstructOptions& options,
                           Context& context) {
  SaidOnce progress(context.progress);
  Context once{context.threads, context.cancel, progress};
  check_outputs(scan, volume_file);
  find_automatic_center(scan, once);
  if (scan.post.empty()) return reconstruct_scan(scan, volume_file, options, once);
  const VolumeBeforePost before(volume_file, options.force);
  ReconstructReport report = reconstruct_scan(scan, before.file(), options, once);
  post_into(volume_file, before, scan, options, report, once);
  return report;
}

ReconstructReport reconstruct(const std::filesystem::path& scan_file, const std::filesystem::path& volume_file,
                              const ReconstructOptions& options) {
  ThreadPool threads(options.threads);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  return run_scan(read_scan(scan_file), volume_file, options, context);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "job/project_volume.h"

#include <utility>

#include "api/compute_of_call.h"
#include "api/refuse_option.h"
#include "api/unfinished_run.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/output_file.h"
#include "io/volume_axes.h"
#include "job/automatic_center.h"
#include "job/outputs.h"
#include "operators/sparse_matrix.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_projection(std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = "project", .why = std::move(why), .hint = std::move(hint)});
}

}  // namespace

VolumeProjectionReport project_volume(const fs::path& volume, const fs::path& scan_file, const fs::path& frames,
                                      const VolumeProjectionOptions& asked) {
  check_resume_or_restart(asked.resume, asked.restart);
  Scan scan = read_scan(scan_file);
  if (volume.empty())
    refuse_projection("no volume was named", "there is nothing to project", "add for example volume.mha");
  require_name(frames, "output");
  check_named(asked.model, RayModel::voxel, "RayModel");
  refuse_to_replace_input(frames, volume);
  check_output(scan, frames, "what is projected");
  if (asked.resume) require_unfinished_run(frames);
  CallContext working(asked.call);
  VolumeProjectionOptions options = asked;
  options.compute = compute_of_call(asked.compute, asked.call, working);
  const OutputLock lock = reserve_output(frames, asked.call.force, working.context().progress);
  center_automatically(scan, working.context());
  return project_volume(volume, scan, frames, options, working.context());
}

ProjectionMatrixReport write_projection_matrix(const fs::path& scan_file, const fs::path& file,
                                               const ProjectionMatrixOptions& options) {
  Scan scan = read_scan(scan_file);
  if (file.extension() != ".npz")
    refuse_projection(format("a matrix in {}", file.string()), "it is written as SciPy's .npz",
                      "give for example -o matrix.npz");
  if (scan.geometry.recorded_on_arc)
    refuse_projection("an arc detector has no matrix", "its frames are interpolated from a flat one's",
                      "project a volume, or describe a flat detector");
  check_named(options.model, RayModel::voxel, "RayModel");
  refuse_same_file(options.volume, file);
  check_output(scan, file, "the matrix");
  CallContext working(options.call);
  const OutputLock lock = reserve_output(file, options.call.force, working.context().progress);
  center_automatically(scan, working.context());
  const VolumeGrid grid = options.volume.empty() ? scan.grid : open_as_noted(options.volume)->grid();
  const SparseMatrix matrix =
      sparse_matrix(scan.geometry, grid, options.model, working.buffer_bytes(0) / 2, working.context().threads);
  write_npz(matrix, file, options.call.force);
  return {.rows = matrix.rows, .columns = matrix.columns, .weights = static_cast<std::int64_t>(matrix.values.size())};
}

}  // namespace lepus

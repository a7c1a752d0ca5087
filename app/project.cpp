// SPDX-License-Identifier: Apache-2.0
// lepus project: a volume's line integrals as a scan would measure them, what they leave of what it measured, or the
// matrix that makes them.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/commands.h"
#include "app/compute_options.h"
#include "app/resume_options.h"
#include "core/format.h"
#include "core/memory.h"
#include "io/volume_axes.h"
#include "job/automatic_center.h"
#include "job/method_input.h"
#include "job/project_volume.h"
#include "operators/sparse_matrix.h"

namespace lepus::app {
namespace {

struct ProjectArguments {
  std::string volume, scan_file, output, model = "joseph";
  bool against = false, matrix = false;
  ComputeOptions compute;
  ResumeOptions resume;
};

[[noreturn]] void refuse_projection(std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = "project", .why = std::move(why), .hint = std::move(hint)});
}

int write_matrix(const ProjectArguments& a, Scan scan, Session& session) {
  if (a.against)
    refuse_projection("--matrix and --against", "a matrix is compared with nothing", "leave one of them out");
  if (std::filesystem::path(a.output).extension() != ".npz")
    refuse_projection(format("a matrix in {}", a.output), "it is written as SciPy's .npz",
                      "give for example -o matrix.npz");
  if (scan.geometry.recorded_on_arc)
    refuse_projection("an arc detector has no matrix", "its frames are interpolated from a flat one's",
                      "project a volume, or describe a flat detector");
  const auto lock = session.reserve(a.output);
  center_automatically(scan, session.context());
  const VolumeGrid grid = a.volume.empty() ? scan.grid : open_as_noted(a.volume)->grid();
  const SparseMatrix matrix =
      sparse_matrix(scan.geometry, grid, ray_model(a.model), session.buffer_bytes(0) / 2, session.context().threads);
  write_npz(matrix, a.output, session.common().force);
  session.report(
      format("wrote     {}: {} x {}, {} weights", a.output, matrix.rows, matrix.columns, matrix.values.size()));
  session.result({{"output", a.output},
                  {"rows", matrix.rows},
                  {"columns", matrix.columns},
                  {"weights", matrix.values.size()},
                  {"model", a.model}});
  return exit_ok;
}

int run_project(const ProjectArguments& a, Session& session) {
  a.resume.check();
  Scan scan = read_scan(a.scan_file);
  if (a.matrix) return write_matrix(a, std::move(scan), session);
  if (a.volume.empty())
    refuse_projection("no volume was named", "there is nothing to project", "add for example volume.mha");
  a.resume.require_unfinished(a.output);
  const auto lock = session.reserve(a.output);
  center_automatically(scan, session.context());
  VolumeProjectionOptions options;
  options.model = ray_model(a.model);
  options.compute = a.compute.compute();
  options.compute.memory_bytes = session.memory_bytes();
  options.against = a.against;
  options.force = session.common().force;
  options.restart = a.resume.restart;
  const VolumeProjectionReport done = project_volume(a.volume, scan, a.output, options, session.context());
  std::string text =
      format("wrote     {}: {} frames of {} x {} line integrals", a.output, done.views, done.columns, done.rows);
  if (a.against)
    text += format("\nresidual  {:.4g} of the measured line integrals' norm",
                   done.residual / std::max(1e-300, done.measured));
  session.report(text + format("\ntime      {:.2f} s", done.seconds), format("kernel    {}\n", done.kernel));
  nlohmann::json result{{"output", a.output}, {"views", done.views},   {"columns", done.columns}, {"rows", done.rows},
                        {"norm", done.norm},  {"kernel", done.kernel}, {"seconds", done.seconds}};
  if (a.against) result.update({{"measured_norm", done.measured}, {"residual_norm", done.residual}});
  session.result(result);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> project_command() {
  auto command = std::make_unique<Command>();
  const auto arguments = std::make_shared<ProjectArguments>();
  command->name = "project";
  command->summary = "line integrals of a volume, as a scan would measure them";
  command->description =
      "Projects a volume along the rays of a scan's geometry and writes the line integrals (dimensionless, float), one "
      "frame a view. The volume lies where its file says, in mm from the rotation centre, and its values are in 1/mm; "
      "where the scan file has center = \"auto\", the axis is found in its frames first. A scan file with "
      "content = \"line-integrals\" and the same [geometry] reconstructs what was written, of an arc detector too.\n\n"
      "With --against the scan's own line integrals, corrected, are subtracted: pictures of what is left show "
      "misalignment, motion and beam hardening. With --matrix the operator itself is written, for small problems: a "
      "sparse matrix (CSR) in mm that scipy.sparse.load_npz reads, one row a pixel, one column a voxel of the volume, "
      "x fastest and z slowest in lepus' axes whatever those of its file are, or of the scan's volume where none is "
      "named.\n\n"
      "Where a run ends early, the views that are finished stay beside the output, and the same command goes on from "
      "there to the same bits (docs/restart.md).";
  command->examples = {
      {"lepus project demo/volume.mha --scan demo/scan.toml -o frames.h5", "what the scan would have measured"},
      {"lepus project demo/volume.mha --scan demo/scan.toml -o left.tif --against", "what the volume does not explain"},
      {"lepus project --scan demo/scan.toml --matrix -o matrix.npz", "the matrix of a small problem"}};
  command->writes = true;
  command->options.positional("VOLUME", arguments->volume, "the volume: any format that lepus reads").file();
  command->options.value("--scan", "FILE", arguments->scan_file, "the scan file (TOML) whose geometry is used")
      .must()
      .file();
  command->options
      .value("-o,--output", "FILE", arguments->output,
             "the frames to write: .h5, .tif, .raw, or a file each with %04d in its name; with --matrix .npz")
      .must()
      .file();
  command->options.flag("--against", arguments->against, "subtract the scan's own line integrals");
  command->options.flag("--matrix", arguments->matrix, "write the sparse matrix");
  command->options.value("--model", "NAME", arguments->model, "how a ray meets voxels")
      .one_of({"joseph", "siddon", "footprint", "voxel"});
  arguments->compute.describe(command->options);
  arguments->resume.describe(command->options);
  command->run = [arguments](Session& session) { return run_project(*arguments, session); };
  return command;
}

}  // namespace lepus::app

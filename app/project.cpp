// SPDX-License-Identifier: Apache-2.0
// lepus project: a volume's line integrals as a scan would measure them, what they leave of what it measured, or the
// matrix that makes them.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/compute_options.h"
#include "app/resume_options.h"
#include "core/format.h"
#include <lepus/error.h>
#include <lepus/project.h>

namespace lepus::app {
namespace {

struct ProjectArguments {
  std::string volume, scan_file, output, model = "joseph";
  bool against = false, matrix = false;
  ComputeOptions compute;
  ResumeOptions resume;
};

RayModel model_of(const std::string& name) {
  return name == "siddon"      ? RayModel::siddon
         : name == "footprint" ? RayModel::footprint
         : name == "voxel"     ? RayModel::voxel
                               : RayModel::joseph;
}

int write_matrix(const ProjectArguments& a, Session& session) {
  if (a.against)
    throw Error(ErrorKind::usage, {.what = "--matrix and --against",
                                   .where = "project",
                                   .why = "a matrix is compared with nothing",
                                   .hint = "leave one of them out"});
  ProjectionMatrixOptions options;
  options.model = model_of(a.model);
  options.volume = a.volume;
  options.call = session.call();
  const ProjectionMatrixReport matrix = write_projection_matrix(a.scan_file, a.output, options);
  session.report(format("wrote     {}: {} x {}, {} weights", a.output, matrix.rows, matrix.columns, matrix.weights));
  session.result({{"output", a.output},
                  {"rows", matrix.rows},
                  {"columns", matrix.columns},
                  {"weights", matrix.weights},
                  {"model", a.model}});
  return exit_ok;
}

int run_project(const ProjectArguments& a, Session& session) {
  // Both at once are refused for a matrix too, which has no runs to go on with: by the call below.
  if (a.matrix && !(a.resume.resume && a.resume.restart)) return write_matrix(a, session);
  VolumeProjectionOptions options;
  options.model = model_of(a.model);
  options.against = a.against;
  options.resume = a.resume.resume;
  options.restart = a.resume.restart;
  options.compute = a.compute.compute();
  options.call = session.call();
  const VolumeProjectionReport done = project_volume(a.volume, a.scan_file, a.output, options);
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

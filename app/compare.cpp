// SPDX-License-Identifier: Apache-2.0
// lepus compare: how far a volume is from a reference, in numbers and as a picture; an exit code for scripts.
#include <lepus/compare.h>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "core/format.h"

namespace lepus::app {
namespace {

struct CompareArguments {
  std::string reference, volume, difference, ssim = "volume", field_of_view, axes, reference_axes;
  std::optional<double> peak, radius, ball, above, below;
  std::vector<double> box;
  std::vector<std::string> fail_above, fail_below;
};

CompareOptions options_from(const CompareArguments& a, const Session& session) {
  CompareOptions options;
  for (const auto& text : a.fail_above) options.limits.push_back(parse_metric_limit(text, true));
  for (const auto& text : a.fail_below) options.limits.push_back(parse_metric_limit(text, false));
  options.reference = a.reference;
  options.volume = a.volume;
  options.reference_axes = a.reference_axes;
  options.volume_axes = a.axes;
  options.peak = a.peak;
  options.ssim = a.ssim == "none" ? SsimMode::none : a.ssim == "slices" ? SsimMode::slices : SsimMode::volume;
  options.radius_mm = a.radius;
  options.ball_mm = a.ball;
  options.box_mm = a.box;
  options.reference_above = a.above;
  options.reference_below = a.below;
  options.field_of_view = a.field_of_view;
  options.picture = a.difference;
  options.call = session.call();
  return options;
}

const char* name_of(SsimMode mode) {
  return mode == SsimMode::volume ? "volume" : mode == SsimMode::slices ? "slices" : "none";
}

std::string table(const CompareArguments& arguments, const CompareReport& report) {
  const Comparison& c = report.comparison;
  const Vec3 where = report.maximum_error_at_mm;
  std::string text = format("reference {}\nvolume    {}\nvoxels    {} ({})\n", arguments.reference, arguments.volume,
                            c.voxels, report.compared_voxels);
  if (c.not_finite > 0) text += format("          {} of them are not finite: no error can be given\n", c.not_finite);
  text += format("values    reference {:.6g} to {:.6g}, mean {:.6g}; volume {:.6g} to {:.6g}, mean {:.6g}\n\n",
                 c.reference.smallest, c.reference.largest, c.reference.mean, c.volume.smallest, c.volume.largest,
                 c.volume.mean);
  for (const ComparisonMetric& metric : report.metrics) {
    if (metric.name == "ssim" && !c.ssim) continue;
    std::string remark = metric.meaning;
    if (metric.name == "max")
      remark += format(", at voxel ({}, {}, {}) = ({:.4g}, {:.4g}, {:.4g}) mm", c.at_x, c.at_y, c.at_z, where.x,
                       where.y, where.z);
    if (metric.name == "psnr") remark += format(", peak {:.6g}", c.peak);
    if (metric.name == "ssim") remark += c.ssim_mode == SsimMode::volume ? ", 3-D windows" : ", windows in each slice";
    text += format("{:<6}{:>14.6g} {:<3} {}\n", metric.name, metric.value, metric.unit, remark);
  }
  return text;
}

int run_compare(const CompareArguments& arguments, Session& session) {
  const CompareReport report = compare_volumes(options_from(arguments, session));
  const Comparison& c = report.comparison;
  const Vec3 where = report.maximum_error_at_mm;
  if (!arguments.difference.empty()) session.note("wrote " + arguments.difference);

  nlohmann::json object{{"reference", arguments.reference},
                        {"volume", arguments.volume},
                        {"mask", report.compared_voxels},
                        {"voxels", c.voxels},
                        {"not_finite", c.not_finite},
                        {"peak", c.peak},
                        {"ssim_windows", name_of(c.ssim_mode)},
                        {"max_at_voxel", {c.at_x, c.at_y, c.at_z}},
                        {"max_at_mm", {where.x, where.y, where.z}}};
  for (const auto& [key, range] : {std::pair{"reference_values", c.reference}, std::pair{"volume_values", c.volume}})
    object[key] = {{"min", range.smallest}, {"max", range.largest}, {"mean", range.mean}};
  for (const ComparisonMetric& metric : report.metrics) object["metrics"][metric.name] = metric.value;
  session.print(table(arguments, report));

  object["failed"] = nlohmann::json::array();
  for (const auto& [limit, value] : report.broken_limits) {
    object["failed"].push_back({{"metric", limit.metric}, {"value", value}, {"limit", limit.value}});
    session.call().progress->warning(
        format("{} is {:.6g}, {} the limit {:g}", limit.metric, value, limit.above ? "above" : "below", limit.value));
  }
  session.result(object);
  return report.broken_limits.empty() ? exit_ok : exit_comparison_failed;
}

}  // namespace

std::unique_ptr<Command> compare_command() {
  auto arguments = std::make_shared<CompareArguments>();
  auto command = std::make_unique<Command>();
  command->name = "compare";
  command->summary = "how far a volume is from a reference: RMSE, PSNR, SSIM, largest error, a picture";
  command->description =
      "Compares two volumes of the same grid, in any formats, without needing memory for either. SSIM uses Gaussian\n"
      "windows of 11 voxels (sigma 1.5). With --fail-above or --fail-below the exit code is 8 where a limit is "
      "broken;\n"
      "a voxel that is not finite breaks every limit.";
  command->examples = {{"lepus compare demo/truth.mha demo/volume.mha --difference demo/errors.png",
                        "Numbers, and a picture of three slices of each and of the difference"},
                       {"lepus compare demo/truth.mha demo/volume.mha --radius 5 --fail-above rmse=0.05",
                        "Check a limit in a script, near the axis only"}};
  OptionTable& table = command->options;
  CompareArguments& a = *arguments;
  table.positional("REFERENCE", a.reference, "the volume that is right").must().file();
  table.positional("VOLUME", a.volume, "the volume to judge").must().file();
  table.value("--axes", "AXES", a.axes, "axes of VOLUME, its fastest first: x,z,-y, or rtk, itk, dicom, lepus")
      .otherwise("as it says, or x,y,z");
  table.value("--reference-axes", "AXES", a.reference_axes, "the same of REFERENCE").otherwise("as it says, or x,y,z");
  table.group("Metrics");
  table.value("--peak", "VALUE", a.peak, "peak value for PSNR and SSIM").otherwise("range of the reference");
  table.value("--ssim", "HOW", a.ssim, "windows of the structural similarity").one_of({"volume", "slices", "none"});
  table.value("--fail-above", "METRIC=VALUE", a.fail_above, "exit code 8 where rmse, nrmse, mae, |bias|, max is above");
  table.value("--fail-below", "METRIC=VALUE", a.fail_below, "exit code 8 where psnr or ssim is below");
  table.group("Voxels that count");
  table.value("--radius", "MM", a.radius, "within this distance from the rotation axis");
  table.value("--ball", "MM", a.ball, "within this distance from the rotation centre");
  table.value("--box", "X0,X1,Y0,Y1,Z0,Z1", a.box, "within this box, in millimetres");
  table.value("--reference-above", "VALUE", a.above, "where the reference is above this value");
  table.value("--reference-below", "VALUE", a.below, "where the reference is below this value");
  table.value("--field-of-view", "SCAN", a.field_of_view, "where this scan sees them in every view").file();
  table.group("Output");
  table.value("--difference", "PNG", a.difference, "draw both volumes and their difference, three slices each").file();
  command->writes = true;
  command->run = [arguments](Session& session) { return run_compare(*arguments, session); };
  return command;
}

}  // namespace lepus::app

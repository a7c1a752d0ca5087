// SPDX-License-Identifier: Apache-2.0
// lepus compare: how far a volume is from a reference, in numbers and as a picture; an exit code for scripts.
#include "analysis/compare.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "analysis/panel.h"
#include "app/commands.h"
#include "api/volume_in_axes.h"
#include "core/format.h"
#include "core/text.h"
#include "scan/scan.h"

namespace lepus::app {
namespace {

struct CompareArguments {
  std::string reference, volume, difference, ssim = "volume", field_of_view, axes, reference_axes;
  std::optional<double> peak, radius, ball, above, below;
  std::vector<double> box;
  std::vector<std::string> fail_above, fail_below;
};

struct Metric {
  std::string name, unit, meaning;
  double value;
};

std::vector<Metric> metrics(const Comparison& c) {
  return {{"rmse", "", "root mean square error", c.rmse},
          {"nrmse", "", "rmse / peak", c.nrmse},
          {"mae", "", "mean absolute error", c.mae},
          {"bias", "", "mean of volume - reference", c.bias},
          {"max", "", "largest absolute error", c.maximum_error},
          {"psnr", "dB", "peak signal-to-noise ratio", c.psnr_db},
          {"ssim", "", "structural similarity", c.ssim.value_or(std::numeric_limits<double>::quiet_NaN())}};
}

struct Limit {
  std::string name;
  double value = 0;
  bool above = true;

  bool broken_by(double measured) const {
    // Written so that NaN breaks every limit.
    const double size = name == "bias" ? std::abs(measured) : measured;
    return above ? !(size <= value) : !(size >= value);
  }
};

// "rmse=0.01"
Limit parse_limit(const std::string& text, bool above) {
  const std::string option = above ? "option --fail-above" : "option --fail-below";
  std::vector<std::string> names;
  for (const Metric& metric : metrics({})) names.push_back(metric.name);
  Limit limit;
  const auto equals = text.find('=');
  limit.name = text.substr(0, equals);
  limit.above = above;
  if (std::find(names.begin(), names.end(), limit.name) == names.end()) {
    const std::string nearest = nearest_name(limit.name, names);
    throw Error(ErrorKind::usage,
                {.what = format("there is no metric '{}'", limit.name),
                 .where = option,
                 .why = "known are rmse, nrmse, mae, bias, max, psnr, ssim",
                 .hint = nearest.empty() ? "write it as rmse=0.01" : format("did you mean '{}'?", nearest)});
  }
  try {
    std::size_t used = 0;
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    limit.value = std::stod(number, &used);
    if (used == number.size() && !std::isnan(limit.value)) return limit;
  } catch (const std::exception&) {
    // The same words as for a number with something behind it.
  }
  throw Error(ErrorKind::usage, {.what = format("'{}' has no number", text),
                                 .where = option,
                                 .why = {},
                                 .hint = format("write it as {}=0.01", limit.name)});
}

CompareOptions options_from(const CompareArguments& arguments) {
  CompareOptions options;
  for (const auto& [option, distance] : {std::pair{"--radius", arguments.radius}, {"--ball", arguments.ball}})
    if (distance && !(*distance >= 0)) refuse_option(option, "a distance is not negative", "give millimetres");
  if (!arguments.field_of_view.empty()) options.mask = field_of_view_mask(read_scan(arguments.field_of_view).geometry);
  if (arguments.radius)
    options.mask.radius_mm = std::min(*arguments.radius, options.mask.radius_mm.value_or(*arguments.radius));
  options.mask.ball_mm = arguments.ball;
  options.mask.reference_above = arguments.above;
  options.mask.reference_below = arguments.below;
  if (!arguments.box.empty()) {
    const auto& b = arguments.box;
    if (b.size() != 6 || b[0] > b[1] || b[2] > b[3] || b[4] > b[5])
      throw Error(ErrorKind::usage, {.what = "a box needs six numbers, each pair in order",
                                     .where = "option --box",
                                     .why = {},
                                     .hint = "write it as --box x0,x1,y0,y1,z0,z1, in millimetres"});
    options.mask.box_mm = {b[0], b[1], b[2], b[3], b[4], b[5]};
  }
  if (arguments.peak && !(*arguments.peak > 0))
    throw Error(ErrorKind::usage, {.what = "the peak must be above zero",
                                   .where = "option --peak",
                                   .why = "errors are held against it",
                                   .hint = "leave the option out: the reference's range is taken"});
  options.peak = arguments.peak;
  options.ssim = arguments.ssim == "none"     ? SsimMode::none
                 : arguments.ssim == "slices" ? SsimMode::slices
                                              : SsimMode::volume;
  return options;
}

const char* name_of(SsimMode mode) {
  return mode == SsimMode::volume ? "volume" : mode == SsimMode::slices ? "slices" : "none";
}

std::string table(const CompareArguments& arguments, const Comparison& c, const CompareOptions& options, Vec3 where) {
  std::string text = format("reference {}\nvolume    {}\nvoxels    {} ({})\n", arguments.reference, arguments.volume,
                            c.voxels, options.mask.description());
  if (c.not_finite > 0) text += format("          {} of them are not finite: no error can be given\n", c.not_finite);
  text += format("values    reference {:.6g} to {:.6g}, mean {:.6g}; volume {:.6g} to {:.6g}, mean {:.6g}\n\n",
                 c.reference.smallest, c.reference.largest, c.reference.mean, c.volume.smallest, c.volume.largest,
                 c.volume.mean);
  for (const Metric& metric : metrics(c)) {
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

// What is held beside the slabs that are compared: a slice of each volume as it is stored; for a picture three slices
// of each and of the difference, with the copies in which percentiles are looked up, and the picture.
std::int64_t held_bytes(const VolumeGrid& g, bool picture) {
  constexpr std::int64_t panel = std::int64_t{16} << 20;
  const std::int64_t three = 4 * (g.nx * g.ny + g.nx * g.nz + g.ny * g.nz);
  return 8 * g.nx * g.ny + (picture ? 5 * three + panel : 0);
}

// Voxels are compared as float32.
void warn_of_rounding(const std::string& file, const VolumeReader& volume, const ValueSummary& values,
                      Progress& progress) {
  constexpr double exact = 1 << 24;
  const std::string type = volume.pixel_type();
  if ((type == "int32" || type == "uint32") && std::max(-values.smallest, values.largest) >= exact)
    progress.warning(format("{}: integers above 2^24 are compared as float32, which rounds them", file));
}

int run_compare(const CompareArguments& arguments, Session& session) {
  std::vector<Limit> limits;
  for (const auto& text : arguments.fail_above) limits.push_back(parse_limit(text, true));
  for (const auto& text : arguments.fail_below) limits.push_back(parse_limit(text, false));
  CompareOptions options = options_from(arguments);
  const OutputLock lock = session.reserve(arguments.difference);
  Context& context = session.context();
  const auto reference = open_in_our_axes(arguments.reference, arguments.reference_axes, "--reference-axes",
                                          session.context().progress),
             volume = open_in_our_axes(arguments.volume, arguments.axes, "--axes", session.context().progress);
  const std::int64_t held =
      held_bytes(reference->grid(), !arguments.difference.empty()) + turning_bytes(*reference) + turning_bytes(*volume);
  options.memory_bytes = session.buffer_bytes(held + minimum_compare_bytes(reference->grid(), options.ssim)) - held;
  const Comparison c = compare_volumes(*reference, *volume, options, context);
  warn_of_rounding(arguments.reference, *reference, c.reference, context.progress);
  warn_of_rounding(arguments.volume, *volume, c.volume, context.progress);
  const Vec3 where =
      reference->grid().centre(static_cast<double>(c.at_x), static_cast<double>(c.at_y), static_cast<double>(c.at_z));
  if (!arguments.difference.empty()) {
    const auto wanted = middle_slices(reference->grid());
    PanelOptions panel;
    panel.title = c.ssim ? format("rmse {:.4g}   psnr {:.2f} dB   ssim {:.4f}", c.rmse, c.psnr_db, *c.ssim)
                         : format("rmse {:.4g}   psnr {:.2f} dB", c.rmse, c.psnr_db);
    const auto stem = [](const std::string& path) { return std::filesystem::path(path).stem().string(); };
    save_png(
        comparison_panel(stem(arguments.reference), extract_slices(*reference, wanted, options.memory_bytes, context),
                         stem(arguments.volume), extract_slices(*volume, wanted, options.memory_bytes, context), panel),
        arguments.difference, session.common().force);
    session.note("wrote " + arguments.difference);
  }

  nlohmann::json object{{"reference", arguments.reference},
                        {"volume", arguments.volume},
                        {"mask", options.mask.description()},
                        {"voxels", c.voxels},
                        {"not_finite", c.not_finite},
                        {"peak", c.peak},
                        {"ssim_windows", name_of(c.ssim_mode)},
                        {"max_at_voxel", {c.at_x, c.at_y, c.at_z}},
                        {"max_at_mm", {where.x, where.y, where.z}}};
  for (const auto& [key, range] : {std::pair{"reference_values", c.reference}, std::pair{"volume_values", c.volume}})
    object[key] = {{"min", range.smallest}, {"max", range.largest}, {"mean", range.mean}};
  for (const Metric& metric : metrics(c)) object["metrics"][metric.name] = metric.value;
  session.print(table(arguments, c, options, where));

  int code = exit_ok;
  object["failed"] = nlohmann::json::array();
  for (const Limit& limit : limits)
    for (const Metric& metric : metrics(c))
      if (metric.name == limit.name && limit.broken_by(metric.value)) {
        code = exit_comparison_failed;
        object["failed"].push_back({{"metric", limit.name}, {"value", metric.value}, {"limit", limit.value}});
        context.progress.warning(format("{} is {:.6g}, {} the limit {:g}", limit.name, metric.value,
                                        limit.above ? "above" : "below", limit.value));
      }
  session.result(object);
  return code;
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

// SPDX-License-Identifier: Apache-2.0
// Two volume files held against each other: options are checked, the picture is reserved, both are read slab by slab.
#include "analysis/compare.h"

#include <algorithm>
#include <filesystem>

#include "analysis/panel.h"
#include "api/metric_limits.h"
#include "api/refuse_option.h"
#include "api/volume_in_axes.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/output_file.h"
#include "scan/scan.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_comparison(const std::string& what, const std::string& option, const std::string& why,
                                    const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option " + option, .why = why, .hint = hint});
}

VoxelMask compared_voxels(const CompareOptions& options) {
  for (const auto& [option, distance] : {std::pair{"--radius", options.radius_mm}, {"--ball", options.ball_mm}})
    if (distance && !(*distance >= 0)) refuse_comparison("a distance is not negative", option, {}, "give millimetres");
  VoxelMask mask;
  if (!options.field_of_view.empty()) mask = field_of_view_mask(read_scan(options.field_of_view).geometry);
  if (options.radius_mm) mask.radius_mm = std::min(*options.radius_mm, mask.radius_mm.value_or(*options.radius_mm));
  mask.ball_mm = options.ball_mm;
  if (options.reference_above) check_not_nan(*options.reference_above, "option --above");
  if (options.reference_below) check_not_nan(*options.reference_below, "option --below");
  mask.reference_above = options.reference_above;
  mask.reference_below = options.reference_below;
  if (!options.box_mm.empty()) mask.box_mm = box_of_option(options.box_mm, "--box");
  return mask;
}

CompareSettings compare_settings(const CompareOptions& options) {
  CompareSettings settings;
  settings.mask = compared_voxels(options);
  if (options.peak && !(*options.peak > 0))
    refuse_comparison("the peak must be above zero", "--peak", "errors are held against it",
                      "leave the option out: the reference's range is taken");
  if (options.peak) check_finite(*options.peak, "option --peak");
  settings.peak = options.peak;
  settings.ssim = options.ssim;
  return settings;
}

// What is held beside the slabs that are compared: a slice of each volume as it is stored; for a picture three slices
// of each and of the difference, with the copies in which percentiles are looked up, and the picture.
std::int64_t bytes_beside_compared_slabs(const VolumeGrid& g, bool picture) {
  constexpr std::int64_t panel = std::int64_t{16} << 20;
  const std::int64_t three = 4 * (g.nx * g.ny + g.nx * g.nz + g.ny * g.nz);
  return 8 * g.nx * g.ny + (picture ? 5 * three + panel : 0);
}

// Voxels are compared as float32.
void warn_of_rounding(const std::filesystem::path& file, const VolumeReader& volume, const ValueSummary& values,
                      Progress& progress) {
  constexpr double exact = 1 << 24;
  const std::string type = volume.pixel_type();
  if ((type == "int32" || type == "uint32") && std::max(-values.smallest, values.largest) >= exact)
    progress.warning(format("{}: integers above 2^24 are compared as float32, which rounds them", file.string()));
}

void draw_comparison(const CompareOptions& options, const VolumeReader& reference, const VolumeReader& volume,
                     const Comparison& c, std::int64_t memory_bytes, Context& context) {
  const auto wanted = middle_slices(reference.grid());
  PanelOptions panel;
  panel.title = c.ssim ? format("rmse {:.4g}   psnr {:.2f} dB   ssim {:.4f}", c.rmse, c.psnr_db, *c.ssim)
                       : format("rmse {:.4g}   psnr {:.2f} dB", c.rmse, c.psnr_db);
  save_png(
      comparison_panel(options.reference.stem().string(), extract_slices(reference, wanted, memory_bytes, context),
                       options.volume.stem().string(), extract_slices(volume, wanted, memory_bytes, context), panel),
      options.picture, options.call.force);
}

}  // namespace

CompareReport compare_volumes(const CompareOptions& options) {
  require_name(options.reference, "reference");
  require_name(options.volume, "volume");
  check_named(options.ssim, SsimMode::slices, "SsimMode");
  check_metric_limits(options.limits);
  for (const std::filesystem::path& input : {options.reference, options.volume, options.field_of_view})
    refuse_same_file(input, options.picture);
  CompareSettings settings = compare_settings(options);
  CallContext working(options.call);
  Context& context = working.context();
  const OutputLock lock = reserve_output(options.picture, options.call.force, context.progress);
  const auto reference =
      open_in_our_axes(options.reference, options.reference_axes, "--reference-axes", context.progress);
  const auto volume = open_in_our_axes(options.volume, options.volume_axes, "--axes", context.progress);
  const bool picture = !options.picture.empty();
  const std::int64_t held =
      bytes_beside_compared_slabs(reference->grid(), picture) + turning_bytes(*reference) + turning_bytes(*volume);
  settings.memory_bytes = working.buffer_bytes(held + minimum_compare_bytes(reference->grid(), settings.ssim)) - held;

  CompareReport report;
  report.comparison = compare_volumes(*reference, *volume, settings, context);
  const Comparison& c = report.comparison;
  warn_of_rounding(options.reference, *reference, c.reference, context.progress);
  warn_of_rounding(options.volume, *volume, c.volume, context.progress);
  report.maximum_error_at_mm =
      reference->grid().centre(static_cast<double>(c.at_x), static_cast<double>(c.at_y), static_cast<double>(c.at_z));
  report.compared_voxels = settings.mask.description();
  report.metrics = metrics_of(c);
  report.broken_limits = broken_limits(options.limits, report.metrics);
  if (picture) draw_comparison(options, *reference, *volume, c, settings.memory_bytes, context);
  return report;
}

}  // namespace lepus

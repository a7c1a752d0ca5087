// SPDX-License-Identifier: Apache-2.0
#include "scan/correction_options.h"
#include "scan/parameters.h"

namespace lepus {

HotPixelOptions hot_pixel_options(const CorrectionSpec& spec) {
  const auto given = [&](const char* name) { return spec.parameters.contains(name); };
  HotPixelOptions options;
  options.method = static_cast<HotMethod>(choice_of(spec, "method", {"shifted-window", "classic"}));
  if (given("window_px")) options.window = small_integer_of(spec, "window_px");
  if (given("gap_px")) options.gap = small_integer_of(spec, "gap_px");
  options.tolerance = number_of(spec, "tolerance");
  options.deviations = small_integer_of(spec, "deviations");
  options.normalise = flag_of(spec, "normalise");
  options.below = flag_of(spec, "below");
  options.share_of_views = number_of(spec, "share_of_views");
  options.replace_by = static_cast<HotReplacement>(choice_of(spec, "replace_by", {"auto", "bridge", "windows"}));
  options.iterations = small_integer_of(spec, "iterations");
  options.maximum_share = number_of(spec, "maximum_share");
  return options;
}

ZingerOptions zinger_options(const CorrectionSpec& spec) {
  using pixels::ZingerNeighbours;
  constexpr ZingerNeighbours neighbours[] = {ZingerNeighbours::both, ZingerNeighbours::views, ZingerNeighbours::row};
  return {.tolerance = number_of(spec, "tolerance"),
          .radius_views = small_integer_of(spec, "radius_views"),
          .neighbours = neighbours[choice_of(spec, "neighbours", {"both", "views", "row"})],
          .along = small_integer_of(spec, "along_px"),
          .maximum_share = number_of(spec, "maximum_share")};
}

DeadPixelOptions dead_pixel_options(const CorrectionSpec& spec) {
  return {.threshold = number_of(spec, "threshold"), .maximum_share = number_of(spec, "maximum_share")};
}

DefectMapOptions defect_map_options(const CorrectionSpec& spec, const Scan& scan) {
  return {.file = file_of(spec, "file"),
          .columns = scan.recorded.columns,
          .rows = scan.recorded.rows,
          .first_row = scan.selection.first_row,
          .row_step = scan.selection.row_step,
          .maximum_share = number_of(spec, "maximum_share")};
}

}  // namespace lepus

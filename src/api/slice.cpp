// SPDX-License-Identifier: Apache-2.0
// Slices of a volume file, drawn into a picture: options are checked, the picture is reserved, the volume is read once.
#include <lepus/slice.h>

#include <algorithm>
#include <cmath>

#include "analysis/panel.h"
#include "analysis/slices.h"
#include "api/refuse_option.h"
#include "api/volume_in_axes.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/output_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_slices(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = {}, .why = {}, .hint = hint});
}

void check_slice_options(const SliceOptions& a) {
  require_name(a.volume, "volume");
  require_name(a.picture, "picture");
  refuse_same_file(a.volume, a.picture);
  check_named(a.axis, Axis::z, "Axis");
  for (const auto& [option, value] :
       {std::pair{"--window", a.window}, {"--level", a.level}, {"--min", a.minimum}, {"--max", a.maximum}})
    if (value) check_finite(*value, std::string("option ") + option);
  if (a.index && a.position_mm) refuse_slices("--index and --position both choose the slice", "give one of them");
  if (a.three && a.montage) refuse_slices("--three and --montage exclude each other", "give one of them");
  if (a.three && a.axis != Axis::z) refuse_slices("--three shows slices of all axes", "leave out --axis");
  if ((a.three || a.montage) && (a.index || a.position_mm))
    refuse_slices("--three and --montage choose their slices themselves", "leave out --index and --position");
  if (a.window.has_value() != a.level.has_value())
    refuse_slices("--window and --level belong together", "give both: the width and the middle of the grey range");
  if (a.window && (a.minimum || a.maximum))
    refuse_slices("--window and --min/--max both choose the grey range", "give one of them");
  if (a.window && !a.percentiles.empty())
    refuse_slices("--window and --percentiles both choose the grey range", "give one of them");
  if (a.window && !(*a.window > 0)) refuse_slices("--window must be above zero", "give the width of the grey range");
  if (!a.percentiles.empty() && (a.percentiles.size() != 2 || !(a.percentiles[0] < a.percentiles[1]) ||
                                 !(a.percentiles[0] >= 0) || !(a.percentiles[1] <= 100)))
    refuse_slices("--percentiles needs two numbers from 0 to 100, the lower first",
                  "write it as --percentiles 0.5,99.5");
  if (a.montage && *a.montage < 1) refuse_slices("a montage needs at least one slice", "give 1 or more");
  if (a.size_pixels && (*a.size_pixels < 8 || *a.size_pixels > 16384))
    refuse_slices(format("--size {} is not possible", *a.size_pixels), "give a number of pixels from 8 to 16384");
}

std::vector<SliceRequest> slices_asked_for(const SliceOptions& a, const VolumeGrid& grid) {
  if (a.three) return middle_slices(grid);
  const Axis axis = a.axis;
  const std::int64_t count = voxels_along(grid, axis);
  if (a.montage) {
    std::vector<SliceRequest> list;
    const std::int64_t n = std::min(*a.montage, count);
    for (std::int64_t i = 0; i < n; ++i) list.push_back({axis, (2 * i + 1) * count / (2 * n)});
    return list;
  }
  if (a.position_mm) return {{axis, index_at(grid, axis, *a.position_mm)}};
  return {{axis, a.index.value_or(count / 2)}};
}

GreyWindow shown_window(const SliceOptions& a, const std::vector<Slice>& slices) {
  if (a.window) return {*a.level - *a.window / 2, *a.level + *a.window / 2};
  GreyWindow window = a.percentiles.empty() ? percentile_window(slices, 0.5, 99.5)
                                            : percentile_window(slices, a.percentiles[0], a.percentiles[1]);
  window.low = a.minimum.value_or(window.low);
  window.high = a.maximum.value_or(window.high);
  if (!(window.high > window.low))
    refuse_slices(format("the grey range from {:g} to {:g} is empty", window.low, window.high),
                  "give --min below --max");
  return window;
}

// One slice alone: a pixel per voxel along the finer side, or as large as --size asks.
double pixel_of_single_slice_mm(const SliceOptions& a, const Slice& slice) {
  const double finest = std::min(slice.pixel_width_mm, slice.pixel_height_mm);
  if (!a.size_pixels) return finest;
  return std::max(static_cast<double>(slice.width) * slice.pixel_width_mm,
                  static_cast<double>(slice.height) * slice.pixel_height_mm) /
         static_cast<double>(*a.size_pixels);
}

// What is held beside the slab that is read: the slices and two copies in which percentiles are looked up, the picture
// and its file.
std::int64_t bytes_beside_drawn_slab(const SliceOptions& a, const VolumeGrid& grid,
                                     const std::vector<SliceRequest>& wanted) {
  double voxels = 0, pixels = 0;
  for (const SliceRequest& request : wanted) {
    const bool across_z = request.axis == Axis::z, across_x = request.axis == Axis::x;
    const auto width = static_cast<double>(across_x ? grid.ny : grid.nx);
    const auto height = static_cast<double>(across_z ? grid.ny : grid.nz);
    const double right_mm = std::abs(across_x ? grid.step_mm.y : grid.step_mm.x);
    const double up_mm = std::abs(across_z ? grid.step_mm.y : grid.step_mm.z);
    const double drawn = width * height * std::max(right_mm, up_mm) / std::min(right_mm, up_mm);
    const double side = static_cast<double>(a.size_pixels.value_or(a.three ? 600 : 192));  // with its labels
    voxels += width * height;
    pixels += a.size_pixels || a.three || a.montage ? side * side : drawn;
  }
  const double bytes = 3 * 4 * voxels + 2 * 3 * pixels;
  return static_cast<std::int64_t>(std::min(bytes, 0x1p60));
}

// Side by side, or one above the other where that takes less than two thirds of the paper, as with a volume of a few
// slices.
Picture draw_three_slices(const SliceOptions& a, const std::vector<Slice>& slices, const GreyWindow& window) {
  PanelOptions options;
  options.cell_pixels = a.size_pixels.value_or(options.cell_pixels);
  std::vector<PanelRow> stack;
  stack.reserve(slices.size());
  for (const Slice& slice : slices) stack.push_back({"", {slice}, window, ColourMap::grey});
  Picture beside = draw_panel({{"", slices, window, ColourMap::grey}}, options), above = draw_panel(stack, options);
  return 3 * above.width * above.height < 2 * beside.width * beside.height ? above : beside;
}

Picture draw_asked_slices(const SliceOptions& a, const std::vector<Slice>& slices, const GreyWindow& window) {
  if (a.three) return draw_three_slices(a, slices, window);
  if (a.montage) return draw_montage(slices, window, a.size_pixels.value_or(192));
  return draw_slice(slices.front(), window, ColourMap::grey, pixel_of_single_slice_mm(a, slices.front()));
}

}  // namespace

SliceReport draw_slices(const SliceOptions& options) {
  check_slice_options(options);
  CallContext working(options.call);
  Context& context = working.context();
  const OutputLock lock = reserve_output(options.picture, options.call.force, context.progress);
  const auto volume = open_in_our_axes(options.volume, {}, {}, context.progress);
  const VolumeGrid& grid = volume->grid();
  const auto wanted = slices_asked_for(options, grid);
  const std::int64_t held =
      bytes_beside_drawn_slab(options, grid, wanted) + 8 * grid.nx * grid.ny + turning_bytes(*volume);
  const std::int64_t slab = working.buffer_bytes(held + 4 * grid.nx * grid.ny) - held;
  auto slices = extract_slices(*volume, wanted, slab, context);
  // Across a volume of one slice there are lines, not pictures.
  const auto is_line = [](const Slice& slice) { return slice.width == 1 || slice.height == 1; };
  if (options.three && !std::ranges::all_of(slices, is_line)) std::erase_if(slices, is_line);
  const GreyWindow window = shown_window(options, slices);
  const Picture picture = draw_asked_slices(options, slices, window);
  save_png(picture, options.picture, options.call.force);

  SliceReport report{picture.width, picture.height, window.low, window.high, {}};
  for (const Slice& slice : slices)
    report.slices.push_back({slice.request.axis, slice.request.index, slice.position_mm});
  return report;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// lepus slice: a slice, three orthogonal slices or many slices of a volume as a PNG.
#include "analysis/slices.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "analysis/panel.h"
#include "app/commands.h"
#include "api/volume_in_axes.h"
#include "core/format.h"

namespace lepus::app {
namespace {

struct SliceArguments {
  std::string volume, output, axis = "z";
  std::optional<std::int64_t> index, montage, size;
  std::optional<double> position, window, level, minimum, maximum;
  std::vector<double> percentiles;
  bool three = false;
};

[[noreturn]] void contradiction(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = {}, .why = {}, .hint = hint});
}

void check(const SliceArguments& a) {
  if (a.index && a.position) contradiction("--index and --position both choose the slice", "give one of them");
  if (a.three && a.montage) contradiction("--three and --montage exclude each other", "give one of them");
  if (a.three && a.axis != "z") contradiction("--three shows slices of all axes", "leave out --axis");
  if ((a.three || a.montage) && (a.index || a.position))
    contradiction("--three and --montage choose their slices themselves", "leave out --index and --position");
  if (a.window.has_value() != a.level.has_value())
    contradiction("--window and --level belong together", "give both: the width and the middle of the grey range");
  if (a.window && (a.minimum || a.maximum))
    contradiction("--window and --min/--max both choose the grey range", "give one of them");
  if (a.window && !a.percentiles.empty())
    contradiction("--window and --percentiles both choose the grey range", "give one of them");
  if (a.window && !(*a.window > 0)) contradiction("--window must be above zero", "give the width of the grey range");
  if (!a.percentiles.empty() && (a.percentiles.size() != 2 || !(a.percentiles[0] < a.percentiles[1]) ||
                                 !(a.percentiles[0] >= 0) || !(a.percentiles[1] <= 100)))
    contradiction("--percentiles needs two numbers from 0 to 100, the lower first",
                  "write it as --percentiles 0.5,99.5");
  if (a.montage && *a.montage < 1) contradiction("a montage needs at least one slice", "give 1 or more");
  if (a.size && (*a.size < 8 || *a.size > 16384))
    contradiction(format("--size {} is not possible", *a.size), "give a number of pixels from 8 to 16384");
}

std::vector<SliceRequest> requests(const SliceArguments& a, const VolumeGrid& grid) {
  if (a.three) return middle_slices(grid);
  const Axis axis = a.axis == "x" ? Axis::x : a.axis == "y" ? Axis::y : Axis::z;
  const std::int64_t count = voxels_along(grid, axis);
  if (a.montage) {
    std::vector<SliceRequest> list;
    const std::int64_t n = std::min(*a.montage, count);
    for (std::int64_t i = 0; i < n; ++i) list.push_back({axis, (2 * i + 1) * count / (2 * n)});
    return list;
  }
  if (a.position) return {{axis, index_at(grid, axis, *a.position)}};
  return {{axis, a.index.value_or(count / 2)}};
}

GreyWindow grey_window(const SliceArguments& a, const std::vector<Slice>& slices) {
  if (a.window) return {*a.level - *a.window / 2, *a.level + *a.window / 2};
  GreyWindow window = a.percentiles.empty() ? percentile_window(slices, 0.5, 99.5)
                                            : percentile_window(slices, a.percentiles[0], a.percentiles[1]);
  window.low = a.minimum.value_or(window.low);
  window.high = a.maximum.value_or(window.high);
  if (!(window.high > window.low))
    contradiction(format("the grey range from {:g} to {:g} is empty", window.low, window.high),
                  "give --min below --max");
  return window;
}

// One slice alone: a pixel per voxel along the finer side, or as large as --size asks.
double single_pixel_mm(const SliceArguments& a, const Slice& slice) {
  const double finest = std::min(slice.pixel_width_mm, slice.pixel_height_mm);
  if (!a.size) return finest;
  return std::max(static_cast<double>(slice.width) * slice.pixel_width_mm,
                  static_cast<double>(slice.height) * slice.pixel_height_mm) /
         static_cast<double>(*a.size);
}

// What is held beside the slab that is read: the slices and two copies in which percentiles are looked up, the picture
// and its file.
std::int64_t held_bytes(const SliceArguments& a, const VolumeGrid& grid, const std::vector<SliceRequest>& wanted) {
  double voxels = 0, pixels = 0;
  for (const SliceRequest& request : wanted) {
    const bool across_z = request.axis == Axis::z, across_x = request.axis == Axis::x;
    const auto width = static_cast<double>(across_x ? grid.ny : grid.nx);
    const auto height = static_cast<double>(across_z ? grid.ny : grid.nz);
    const double right_mm = std::abs(across_x ? grid.step_mm.y : grid.step_mm.x);
    const double up_mm = std::abs(across_z ? grid.step_mm.y : grid.step_mm.z);
    const double drawn = width * height * std::max(right_mm, up_mm) / std::min(right_mm, up_mm);
    const double side = static_cast<double>(a.size.value_or(a.three ? 600 : 192));  // with its labels
    voxels += width * height;
    pixels += a.size || a.three || a.montage ? side * side : drawn;
  }
  const double bytes = 3 * 4 * voxels + 2 * 3 * pixels;
  return static_cast<std::int64_t>(std::min(bytes, 0x1p60));
}

// Side by side, or one above the other where that takes less than two thirds of the paper, as with a volume of a few
// slices.
Picture three_slices(const SliceArguments& a, const std::vector<Slice>& slices, const GreyWindow& window) {
  PanelOptions options;
  options.cell_pixels = a.size.value_or(options.cell_pixels);
  std::vector<PanelRow> stack;
  stack.reserve(slices.size());
  for (const Slice& slice : slices) stack.push_back({"", {slice}, window, ColourMap::grey});
  Picture beside = draw_panel({{"", slices, window, ColourMap::grey}}, options), above = draw_panel(stack, options);
  return 3 * above.width * above.height < 2 * beside.width * beside.height ? above : beside;
}

int run_slice(const SliceArguments& a, Session& session) {
  check(a);
  const OutputLock lock = session.reserve(a.output);
  const auto volume = open_in_our_axes(a.volume, {}, {}, session.context().progress);
  const VolumeGrid& grid = volume->grid();
  const auto wanted = requests(a, grid);
  const std::int64_t held = held_bytes(a, grid, wanted) + 8 * grid.nx * grid.ny + turning_bytes(*volume);
  const std::int64_t slab = session.buffer_bytes(held + 4 * grid.nx * grid.ny) - held;
  auto slices = extract_slices(*volume, wanted, slab, session.context());
  // Across a volume of one slice there are lines, not pictures.
  const auto is_line = [](const Slice& slice) { return slice.width == 1 || slice.height == 1; };
  if (a.three && !std::ranges::all_of(slices, is_line)) std::erase_if(slices, is_line);
  const GreyWindow window = grey_window(a, slices);
  Picture picture;
  if (a.three) {
    picture = three_slices(a, slices, window);
  } else if (a.montage) {
    picture = draw_montage(slices, window, a.size.value_or(192));
  } else {
    picture = draw_slice(slices.front(), window, ColourMap::grey, single_pixel_mm(a, slices.front()));
  }
  save_png(picture, a.output, session.common().force);

  session.note(format("wrote {} ({} x {} pixels, grey from {:.6g} to {:.6g})", a.output, picture.width, picture.height,
                      window.low, window.high));
  nlohmann::json object{{"picture", a.output},
                        {"width", picture.width},
                        {"height", picture.height},
                        {"grey_min", window.low},
                        {"grey_max", window.high}};
  for (const Slice& slice : slices)
    object["slices"].push_back({{"axis", std::string(1, letter(slice.request.axis))},
                                {"index", slice.request.index},
                                {"position_mm", slice.position_mm}});
  session.result(object);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> slice_command() {
  auto arguments = std::make_shared<SliceArguments>();
  auto command = std::make_unique<Command>();
  command->name = "slice";
  command->summary = "slices of a volume as a PNG";
  command->description =
      "Slices are drawn upright in millimetres: across z as seen from +z (x to the right, y up), across y (x right, z\n"
      "up), across x (y right, z up); pixels are square even where voxels are not.";
  command->examples = {{"lepus slice demo/volume.mha --three -o demo/slices.png", "Three orthogonal slices"},
                       {"lepus slice demo/volume.mha --axis y --position 2.5 --min 0 --max 0.5 -o demo/y.png",
                        "The slice at y = 2.5 mm, grey from 0 to 0.5 per mm"}};
  command->writes = true;
  OptionTable& table = command->options;
  SliceArguments& a = *arguments;
  table.positional("VOLUME", a.volume, "a volume in any format that lepus reads").must().file();
  table.value("-o,--output", "PNG", a.output, "the picture to write").must().file();
  table.group("Slices");
  table.value("--axis", "AXIS", a.axis, "the axis that the slice lies across").one_of({"x", "y", "z"});
  table.value("--index", "N", a.index, "the slice by its number, counted from 0").otherwise("the middle");
  table.value("--position", "MM", a.position, "the slice by its position");
  table.flag("--three", a.three, "three orthogonal slices through the middle, with labels; of one slice that alone");
  table.value("--montage", "N", a.montage, "N slices spread over the axis, in a grid");
  table.group("Grey levels");
  table.value("--window", "WIDTH", a.window, "width of the range of values shown, with --level");
  table.value("--level", "VALUE", a.level, "middle of that range");
  table.value("--min", "VALUE", a.minimum, "value that is black");
  table.value("--max", "VALUE", a.maximum, "value that is white");
  table.value("--percentiles", "LOW,HIGH", a.percentiles, "black and white by percentiles of what is shown")
      .otherwise("0.5,99.5");
  table.group("Picture");
  table.value("--size", "PIXELS", a.size, "the longest side of a slice in the picture")
      .otherwise("a pixel per voxel; 384 with --three, 192 with --montage");
  command->run = [arguments](Session& session) { return run_slice(*arguments, session); };
  return command;
}

}  // namespace lepus::app

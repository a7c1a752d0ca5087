// SPDX-License-Identifier: Apache-2.0
// lepus slice: a slice, three orthogonal slices or many slices of a volume as a PNG.
#include <lepus/slice.h>

#include <nlohmann/json.hpp>

#include "app/commands.h"
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

SliceOptions options_from(const SliceArguments& a, const Session& session) {
  SliceOptions options;
  options.volume = a.volume;
  options.picture = a.output;
  options.axis = a.axis == "x" ? Axis::x : a.axis == "y" ? Axis::y : Axis::z;
  options.index = a.index;
  options.position_mm = a.position;
  options.three = a.three;
  options.montage = a.montage;
  options.window = a.window;
  options.level = a.level;
  options.minimum = a.minimum;
  options.maximum = a.maximum;
  options.percentiles = a.percentiles;
  options.size_pixels = a.size;
  options.call = session.call();
  return options;
}

const char* name_of(Axis axis) { return axis == Axis::x ? "x" : axis == Axis::y ? "y" : "z"; }

int run_slice(const SliceArguments& a, Session& session) {
  const SliceReport report = draw_slices(options_from(a, session));
  session.note(format("wrote {} ({} x {} pixels, grey from {:.6g} to {:.6g})", a.output, report.width, report.height,
                      report.black, report.white));
  nlohmann::json object{{"picture", a.output},
                        {"width", report.width},
                        {"height", report.height},
                        {"grey_min", report.black},
                        {"grey_max", report.white}};
  for (const DrawnSlice& slice : report.slices)
    object["slices"].push_back(
        {{"axis", name_of(slice.axis)}, {"index", slice.index}, {"position_mm", slice.position_mm}});
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

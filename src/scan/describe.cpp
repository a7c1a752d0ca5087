// SPDX-License-Identifier: Apache-2.0
#include "scan/describe.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/format.h"
#include "core/memory.h"
#include "geometry/camera.h"
#include "geometry/row_band.h"
#include "io/labelled_image.h"

namespace lepus {
namespace {

using nlohmann::json;

const char* word(Beam beam) { return beam == Beam::cone ? "cone" : beam == Beam::fan ? "fan" : "parallel"; }

const char* word(Intensity intensity) {
  switch (intensity) {
    case Intensity::flats:
      return "flats";
    case Intensity::value:
      return "value";
    case Intensity::air_region:
      return "air-region";
    case Intensity::detector_maximum:
      return "detector-maximum";
  }
  return "";
}

const char* word(Window window) {
  switch (window) {
    case Window::ram_lak:
      return "ram-lak";
    case Window::shepp_logan:
      return "shepp-logan";
    case Window::cosine:
      return "cosine";
    case Window::hamming:
      return "hamming";
    case Window::hann:
      return "hann";
  }
  return "";
}

const char* word(Interpolation interpolation) {
  return interpolation == Interpolation::nearest ? "nearest"
         : interpolation == Interpolation::cubic ? "cubic"
                                                 : "linear";
}

// The angle of the first view, and how far the views turn from there: the last one's share of the arc is counted, so
// 360 views of one degree cover 360 degrees. Of views in any order: counter-clockwise.
struct Turn {
  double first_deg = 0, step_deg = 0, covered_deg = 0;
};
Turn turn_of(const ScanGeometry& geometry) {
  std::vector<double> angles;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    angles.push_back(view_angle_rad(camera_of(geometry, view)));
  const auto step = [&](std::size_t i) { return std::remainder(angles[i] - angles[i - 1], 2 * pi); };
  double sum = 0, there_and_back = 0;
  for (std::size_t i = 1; i < angles.size(); ++i) {
    sum += step(i);
    there_and_back += std::abs(step(i));
  }
  Turn turn;
  turn.first_deg = degrees(angles.front());
  // Views in any order have no way that they turn: they cover the circle but for its widest gap.
  if (std::abs(sum) < 0.9 * there_and_back) {
    const double first = angles.front();
    for (double& angle : angles) angle = std::fmod(angle - first + 2 * pi, 2 * pi);
    std::sort(angles.begin(), angles.end());
    double gap = 2 * pi - angles.back();
    for (std::size_t i = 1; i < angles.size(); ++i)
      if (angles[i] - angles[i - 1] > gap * (1 + 1e-9)) {  // a full turn begins with the first view
        gap = angles[i] - angles[i - 1];
        turn.first_deg = degrees(std::remainder(first + angles[i], 2 * pi));
      }
    sum = 2 * pi - gap;
  }
  if (angles.size() > 1) turn.step_deg = degrees(sum) / static_cast<double>(angles.size() - 1);
  turn.covered_deg = turn.step_deg * static_cast<double>(angles.size());
  if (std::abs(turn.first_deg) < 1e-9) turn.first_deg = 0;  // what rounding leaves of it, or -0
  return turn;
}

// What a file of [frames.sinogram] says before and after its pixels.
json labels_json(const std::vector<Label>& labels) {
  json j = json::object();
  for (const Label& label : labels) j[label.name] = label.value;
  return j;
}

json vector_json(Vec3 v) { return {v.x, v.y, v.z}; }

json parameter_json(const ParameterValue& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

json steps_json(const std::vector<CorrectionSpec>& specs) {
  json all = json::array();
  for (const auto& spec : specs) {
    json entry{{"kind", spec.kind}};
    for (const auto& [name, value] : spec.parameters) entry[name] = parameter_json(value);
    all.push_back(std::move(entry));
  }
  return all;
}

std::string kinds_of(const std::vector<CorrectionSpec>& specs) {
  std::string kinds;
  for (const auto& spec : specs) kinds += (kinds.empty() ? "" : ", ") + spec.kind;
  return kinds;
}

json method_json(const MethodSettings& method) {
  json j{{"name", method.name}};
  if (!method.iterative()) return j;
  j["iterations"] = method.iterations;
  if (method.subsets) j["subsets"] = *method.subsets;
  if (method.choose_strength)
    j["strength"] = "auto";
  else
    j["strength"] = method.strength;
  j["start"] = method.start;
  j["weights"] = method.weights;
  j["model"] = method.model;
  if (!method.mask.empty()) j["mask"] = method.mask;
  if (!method.prior.empty()) j["prior"] = method.prior;
  return j;
}

std::string words_of(const MethodSettings& method) {
  if (!method.iterative()) return method.name;
  std::string text = format("{}, {} iterations from {}", method.name, method.iterations, method.start);
  if (method.subsets) text += format(", {} subsets", *method.subsets);
  if (method.choose_strength) text += ", a strength that fits the noise";
  if (!method.choose_strength && method.strength > 0) text += format(", strength {:g}", method.strength);
  return text;
}

std::int64_t volume_bytes(const VolumeGrid& grid) { return grid.voxels() * 4; }  // float

}  // namespace

nlohmann::json describe_json(const Scan& scan) {
  const auto& geometry = scan.geometry;
  const auto& grid = scan.grid;
  const Camera camera = camera_of(geometry, 0);
  const PixelPitch pitch = pitch_at_axis(camera);
  const Turn turn = turn_of(geometry);
  json j;
  j["scan"] = scan.file.string();
  j["frames"] = {{"count", scan.recorded.frames},
                 {"columns", scan.recorded.columns},
                 {"rows", scan.recorded.rows},
                 {"type", name_of(scan.recorded.type)},
                 {"files", scan.frames.files.size()},
                 {"first_file", scan.frames.files.front().string()},
                 {"content", scan.content == FrameContent::counts ? "counts" : "line-integrals"},
                 {"bytes", scan.recorded.frames * scan.recorded.columns * scan.recorded.rows *
                               bytes_per_pixel(scan.recorded.type)},
                 {"flats", scan.flats.has_value()},
                 {"darks", scan.darks.has_value()}};
  if (scan.content == FrameContent::counts) j["frames"]["intensity"] = word(scan.intensity);
  if (scan.frames.labelled) {
    const LabelledImage first = read_labelled_image(scan.frames.files.front(), *scan.frames.labelled);
    j["frames"]["header"] = labels_json(first.header);
    j["frames"]["tail"] = labels_json(first.tail);
  }
  j["views"] = {{"count", geometry.views()},
                {"first_frame", scan.selection.frames.front()},
                {"last_frame", scan.selection.frames.back()},
                {"first_row", scan.selection.first_row},
                {"row_step", scan.selection.row_step},
                {"rows", scan.selection.rows}};
  j["geometry"] = {{"beam", word(geometry.beam)},       {"detector", geometry.recorded_on_arc ? "arc" : "flat"},
                   {"first_angle_deg", turn.first_deg}, {"angle_step_deg", turn.step_deg},
                   {"arc_deg", turn.covered_deg},       {"pixel_at_axis_mm", {pitch.width_mm, pitch.height_mm}}};
  j["geometry"]["center"] = scan.automatic_center ? "auto" : "given";
  if (geometry.beam != Beam::parallel) {
    const double axis = source_axis_mm(camera);
    j["geometry"]["source_axis_mm"] = axis;
    if (geometry.source_detector_mm > 0) {
      j["geometry"]["source_detector_mm"] = geometry.source_detector_mm;
      j["geometry"]["magnification"] = geometry.source_detector_mm / axis;
    }
  }
  j["field_of_view"] = {{"radius_mm", field_of_view_radius_mm(geometry)}};
  j["volume"] = {{"size", {grid.nx, grid.ny, grid.nz}},      {"voxel_mm", vector_json(grid.step_mm)},
                 {"origin_mm", vector_json(grid.origin_mm)}, {"automatic", scan.automatic_grid},
                 {"mask", scan.field_of_view_mask},          {"bytes", volume_bytes(grid)}};
  j["filter"] = {{"window", word(scan.filter.window)},
                 {"cutoff", scan.filter.cutoff},
                 {"spatial_hamming_samples", scan.filter.spatial_hamming_samples},
                 {"extrapolate", scan.filter.extrapolate}};
  j["interpolation"] = word(scan.interpolation);
  j["method"] = method_json(scan.method);
  j["corrections"] = steps_json(scan.corrections);
  j["post"] = steps_json(scan.post);
  j["output"] = scan.output;
  j["warnings"] = scan.warnings;
  return j;
}

std::vector<std::pair<std::string, std::string>> describe(const Scan& scan) {
  const json j = describe_json(scan);
  const auto& geometry = j["geometry"];
  const auto& grid = scan.grid;
  const auto number = [](const json& value) { return format("{:.6g}", value.get<double>()); };
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("scan", scan.file.string());
  lines.emplace_back(
      "frames", format("{} of {} x {} pixels, {} ({})", scan.recorded.frames, scan.recorded.columns, scan.recorded.rows,
                       name_of(scan.recorded.type), format_bytes(j["frames"]["bytes"].get<std::int64_t>())));
  lines.emplace_back("first file", j["frames"]["first_file"].get<std::string>());
  for (const char* part : {"header", "tail"})
    if (j["frames"].contains(part))
      for (const auto& [name, value] : j["frames"][part].items())
        lines.emplace_back(format("  {}", part), format("{} {}", name, value.get<std::string>()));
  lines.emplace_back("content", scan.content == FrameContent::counts
                                    ? format("counts, I0 from {}{}", word(scan.intensity), scan.darks ? ", darks" : "")
                                    : "line integrals");
  lines.emplace_back(
      "views",
      format("{} (frames {} to {}), rows {} to {} step {}", scan.geometry.views(), scan.selection.frames.front(),
             scan.selection.frames.back(), scan.selection.first_row,
             scan.selection.first_row + (scan.selection.rows - 1) * scan.selection.row_step, scan.selection.row_step));
  lines.emplace_back(
      "beam", format("{}, {} detector", geometry["beam"].get<std::string>(), geometry["detector"].get<std::string>()));
  if (geometry.contains("source_axis_mm")) {
    std::string distances = format("source to axis {} mm", number(geometry["source_axis_mm"]));
    if (geometry.contains("magnification"))
      distances += format(", source to detector {} mm, magnification {}", number(geometry["source_detector_mm"]),
                          number(geometry["magnification"]));
    lines.emplace_back("distances", distances);
  }
  lines.emplace_back("angles",
                     format("from {} deg, {} deg in mean steps of {} deg", number(geometry["first_angle_deg"]),
                            number(geometry["arc_deg"]), number(geometry["angle_step_deg"])));
  if (scan.automatic_center)
    lines.emplace_back("center", "auto: the axis is found in the frames before the volume is made");
  lines.emplace_back("pixel at axis", format("{} x {} mm", number(geometry["pixel_at_axis_mm"][0]),
                                             number(geometry["pixel_at_axis_mm"][1])));
  lines.emplace_back("field of view", format("radius {} mm", number(j["field_of_view"]["radius_mm"])));
  lines.emplace_back("volume",
                     format("{} x {} x {} voxels of {:.6g} x {:.6g} x {:.6g} mm{} ({})", grid.nx, grid.ny, grid.nz,
                            std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z),
                            scan.automatic_grid ? ", automatic" : "", format_bytes(volume_bytes(grid))));
  lines.emplace_back("method", words_of(scan.method));
  if (!scan.method.iterative() || scan.method.start == "fdk")
    lines.emplace_back("filter", format("{}, cutoff {:g}; {} interpolation", word(scan.filter.window),
                                        scan.filter.cutoff, word(scan.interpolation)));
  lines.emplace_back("corrections", scan.corrections.empty() ? "none" : kinds_of(scan.corrections));
  if (!scan.post.empty()) lines.emplace_back("post", kinds_of(scan.post));
  if (!scan.output.empty()) lines.emplace_back("output", scan.output);
  for (const auto& warning : scan.warnings) lines.emplace_back("warning", warning);
  return lines;
}

std::string describe_text(const Scan& scan) {
  const auto lines = describe(scan);
  std::size_t width = 0;
  for (const auto& [name, text] : lines) width = std::max(width, name.size());
  std::string all;
  for (const auto& [name, text] : lines) all += format("{:<{}}  {}\n", name, width, text);
  return all;
}

}  // namespace lepus

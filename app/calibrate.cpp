// SPDX-License-Identifier: Apache-2.0
// lepus calibrate: the geometry from a scan of beads, or the sampling interval from frames of a plate.
#include "align/calibrate.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "app/command.h"
#include "app/commands.h"
#include "core/format.h"
#include "core/output_file.h"
#include "geometry/camera.h"
#include "scan/edit_scan.h"

namespace lepus::app {
namespace {

struct CalibrateArguments {
  std::string scan_file, output, into;
  bool write = false;
  std::optional<double> plate_width_mm, bead_spacing_mm, bead_diameter_px;
};

// "3-7, 12, 40"
std::string list_of(const std::vector<std::int64_t>& views) {
  std::string text;
  for (std::size_t i = 0; i < views.size();) {
    std::size_t j = i;
    while (j + 1 < views.size() && views[j + 1] == views[j] + 1) ++j;
    text += (text.empty() ? "" : ", ") + (j > i ? format("{}-{}", views[i], views[j]) : format("{}", views[i]));
    i = j + 1;
  }
  return text;
}

// The scan as its parameters describe it: where the search starts.
CircularScan circular_of(const Scan& scan) {
  const toml::table resolved = toml::parse(scan.resolved);
  const auto g = resolved["geometry"];
  const auto need = [&](const char* key) {
    if (const auto value = g[key].value<double>()) return *value;
    throw Error(ErrorKind::usage,
                {.what = "the scan file does not describe a circular cone-beam scan by its parameters",
                 .where = scan.file.string(),
                 .why = format("there is no geometry.{}", key),
                 .hint = "give about right source_axis_mm, source_detector_mm and pixel_width_mm"});
  };
  if (scan.selection.rows != scan.recorded.rows || scan.selection.row_step != 1)
    throw Error(ErrorKind::usage, {.what = "a calibration needs all rows of the detector",
                                   .where = scan.file.string(),
                                   .why = "the scan file selects some of them",
                                   .hint = "leave the selection of rows out"});
  for (const char* key : {"perturbations_file", "view_perturbations", "pitch_mm"})
    if (g[key] && g[key].value<double>() != 0.0)
      throw Error(ErrorKind::usage, {.what = "a calibration finds one geometry for all views",
                                     .where = scan.file.string(),
                                     .why = format("geometry.{} moves views off the circle", key),
                                     .hint = "calibrate with a scan on a circle, without that key"});
  CircularScan s;
  s.beam = scan.geometry.beam;
  s.arc = scan.geometry.recorded_on_arc.has_value();
  s.columns = scan.recorded.columns;
  s.rows = scan.recorded.rows;
  s.pixel_width_mm = need("pixel_width_mm");
  s.pixel_height_mm = g["pixel_height_mm"].value<double>().value_or(s.pixel_width_mm);
  s.source_axis_mm = need("source_axis_mm");
  s.source_detector_mm = need("source_detector_mm");
  s.detector_shift_u_mm = need("detector_shift_u_mm");
  s.detector_shift_v_mm = need("detector_shift_v_mm");
  s.axis_offset_mm = need("axis_offset_mm");
  s.in_plane_rad = radians(need("in_plane_deg"));
  s.pitch_rad = radians(need("pitch_deg"));
  s.yaw_rad = radians(need("yaw_deg"));
  s.mirror_columns = g["mirror_columns"].value_or(false);
  s.mirror_rows = g["mirror_rows"].value_or(false);
  double last = 0;
  for (std::int64_t view = 0; view < scan.geometry.views(); ++view) {
    const double angle = view_angle_rad(camera_of(scan.geometry, view));
    last = view == 0 ? angle : last + std::remainder(angle - last, 2 * pi);
    s.angles_rad.push_back(last);
  }
  for (const auto& [key, direction] :
       {std::pair{"view_shifts_u_mm", &Vec3::x}, std::pair{"view_shifts_v_mm", &Vec3::y}}) {
    const toml::array* shifts = g[key].as_array();
    if (!shifts) continue;
    s.perturbations.resize(s.angles_rad.size());
    for (std::size_t i = 0; i < s.perturbations.size(); ++i)
      s.perturbations[i].detector_mm.*direction =
          (*shifts)[static_cast<std::size_t>(scan.selection.frames[i])].value_or(0.0);
  }
  return s;
}

struct KeyValue {
  const char* key;
  double given, found;
};

std::vector<KeyValue> keys_of(const CircularScan& given, const CircularScan& found) {
  return {{"source_axis_mm", given.source_axis_mm, found.source_axis_mm},
          {"source_detector_mm", given.source_detector_mm, found.source_detector_mm},
          {"detector_shift_u_mm", given.detector_shift_u_mm, found.detector_shift_u_mm},
          {"detector_shift_v_mm", given.detector_shift_v_mm, found.detector_shift_v_mm},
          {"axis_offset_mm", given.axis_offset_mm, found.axis_offset_mm},
          {"in_plane_deg", degrees(given.in_plane_rad), degrees(found.in_plane_rad)},
          {"pitch_deg", degrees(given.pitch_rad), degrees(found.pitch_rad)},
          {"yaw_deg", degrees(given.yaw_rad), degrees(found.yaw_rad)}};
}

int run_plate(const CalibrateArguments& a, const Scan& scan, Session& session) {
  PlateMeter meter(scan.geometry.columns, scan.geometry.rows);
  each_frame(scan, session.context(), [&](std::int64_t, std::span<const float> frame) { meter.add(frame); });
  const PlateResult r = meter.result(*a.plate_width_mm);
  if (!r.cut_off.empty())
    session.context().progress.warning(
        format("the plate reaches the frame's edge in frames {}: they were left out", list_of(r.cut_off)));
  double sum = 0, n = 0;
  for (const double w : r.widths_px) sum += w, n += w > 0 ? 1 : 0;
  session.print(format(
      "plate     {:.4f} px wide, mean of {} frames\ninterval  {:.6g} +- {:.2g} mm where the plate stood\n\n"
      "Where it stood on the axis, a parallel beam's scan file takes it as\n[geometry]\n  pixel_width_mm = {:.6g}\n"
      "and a cone beam's as {:.6g} times source_detector_mm / source_axis_mm.\n",
      sum / n, n, r.interval_mm, r.error_mm, r.interval_mm, r.interval_mm));
  session.result(
      {{"interval_mm", r.interval_mm}, {"error_mm", r.error_mm}, {"widths_px", r.widths_px}, {"cut_off", r.cut_off}});
  return exit_ok;
}

std::vector<BeadTrack> tracks_of(const CalibrateArguments& a, const Scan& scan, const CircularScan& start,
                                 Session& session) {
  double diameter = a.bead_diameter_px.value_or(0);
  std::vector<BeadFrame> frames;
  each_frame(scan, session.context(), [&](std::int64_t, std::span<const float> frame) {
    if (diameter <= 0) diameter = bead_diameter_px(frame, start.columns, start.rows);
    if (diameter < 2)
      throw Error(ErrorKind::input,
                  {.what = "no beads were found in the first frame",
                   .where = scan.file.string(),
                   .why = "nothing small and dense stands out of it",
                   .hint = "beads should be 3 pixels or more across; --bead-diameter says how large they are"});
    frames.push_back(find_beads(frame, start.columns, start.rows, diameter));
  });
  std::vector<std::int64_t> overlapping, leaving;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].overlapping > 0) overlapping.push_back(static_cast<std::int64_t>(i));
    if (frames[i].leaving > 0) leaving.push_back(static_cast<std::int64_t>(i));
  }
  if (!overlapping.empty())
    session.context().progress.warning(
        format("beads overlap in views {}: those were left out there", list_of(overlapping)));
  if (!leaving.empty())
    session.context().progress.warning(
        format("beads leave the detector in views {}: those were left out there", list_of(leaving)));
  return track_beads(frames, start.angles_rad, diameter);
}

int run_calibrate(const CalibrateArguments& a, Session& session) {
  const OutputLock lock = session.reserve(a.output);
  std::optional<ScanFileEdit> edit;
  if (a.write || !a.into.empty()) {
    if (a.plate_width_mm)
      throw Error(ErrorKind::usage, {.what = "a plate's interval is not written into a scan file",
                                     .where = "--write",
                                     .why = "it is the pixel's width at the axis, whose key depends on the beam",
                                     .hint = "leave --write out, and take the printed lines"});
    edit.emplace(a.into.empty() ? a.scan_file : a.into);
  }
  const Scan scan = read_scan(a.scan_file);
  for (const auto& warning : scan.warnings) session.context().progress.warning(warning);
  if (a.plate_width_mm) {
    if (!(*a.plate_width_mm > 0))
      throw Error(ErrorKind::usage, {.what = "the plate's width must be above zero",
                                     .where = "--plate-width-mm",
                                     .why = {},
                                     .hint = "give it in millimetres"});
    return run_plate(a, scan, session);
  }
  const CircularScan start = circular_of(scan);
  const CalibrateResult r = calibrate({start, tracks_of(a, scan, start, session), a.bead_spacing_mm});
  if (!r.bad_views.empty())
    session.context().progress.warning(
        format("{} sightings did not fit and were left out, in views {}", r.left_out, list_of(r.bad_views)));
  for (const auto& warning : r.warnings) session.context().progress.warning(warning);
  std::string text = format(
      "beads     {}, {} sightings\nresidual  {:.4f} px rms, worst view {} with {:.4f} px\nscale     "
      "{}\n\n{:<22}{:>14}{:>14}{:>12}\n",
      r.beads_mm.size(), r.sightings, r.rms_px,
      std::max_element(r.view_rms_px.begin(), r.view_rms_px.end()) - r.view_rms_px.begin(),
      *std::max_element(r.view_rms_px.begin(), r.view_rms_px.end()),
      a.bead_spacing_mm ? "from the distance of the beads along the axis" : "source_axis_mm was kept", "", "scan file",
      "found", "+-");
  std::string toml = format("# Found by lepus calibrate from {} beads, residual {:.4f} px rms.\n[geometry]\n",
                            r.beads_mm.size(), r.rms_px);
  std::string lines;
  NumbersOfKeys numbers;
  nlohmann::json geometry, errors;
  for (const KeyValue& k : keys_of(start, r.scan)) {
    double error = 0;
    for (const auto& [key, e] : r.errors)
      if (key == k.key) error = errors[key] = e;
    text +=
        format("{:<22}{:>14.5f}{:>14.5f}{:>12}\n", k.key, k.given, k.found, error > 0 ? format("{:.5f}", error) : "");
    lines += format("{} = {:.9g}\n", k.key, k.found);
    numbers.emplace_back(k.key, k.found);
    geometry[k.key] = k.found;
  }
  if (!a.output.empty()) {
    write_file(a.output, toml + lines, session.common().force);
    session.note(format("wrote {}", a.output));
  }
  session.print(text +
                "\nIn the section [geometry] of a scan file, in place of lines with the same names (--write puts "
                "them there):\n\n" +
                lines);
  if (edit) {
    edit->write("geometry", numbers);
    session.note(format("changed {}", edit->file().string()));
  }
  session.result({{"geometry", geometry},
                  {"errors", errors},
                  {"rms_px", r.rms_px},
                  {"view_rms_px", r.view_rms_px},
                  {"beads", r.beads_mm.size()},
                  {"sightings", r.sightings},
                  {"left_out", r.left_out},
                  {"false_tracks", r.false_tracks}});
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> calibrate_command() {
  auto arguments = std::make_shared<CalibrateArguments>();
  auto command = std::make_unique<Command>();
  command->name = "calibrate";
  command->summary = "find a scanner's geometry from a scan of beads";
  command->description =
      "Follows small dense beads (their positions need not be known) through the views of a circular cone-beam scan "
      "and "
      "solves for source-detector distance, detector shifts and tilts. The keys of [geometry] that were found are "
      "printed; -o writes them as a file, --write and --into put them into a scan file. The scan file must be about "
      "right to start from.\n\n"
      "With --plate-width-mm the frames show a plate instead, and its width in pixels gives the sampling interval.";
  command->examples = {{"lepus simulate beads --beads 12 --views 36 -o beads --quiet && lepus calibrate "
                        "beads/scan.toml -o geometry.toml",
                        "what is found of their scan, written as a section [geometry]"},
                       {"lepus calibrate scan.toml --plate-width-mm 40", "frames of a plate of 40 mm"}};
  command->writes = true;
  OptionTable& table = command->options;
  CalibrateArguments& a = *arguments;
  table.positional("SCAN", a.scan_file, "the scan file (TOML) of the calibration scan").must().file();
  table.value("-o,--output", "TOML", a.output, "write the section [geometry] that was found").file();
  table.flag("--write", a.write, "put the keys that were found into the scan file; all else in it stays");
  table.value("--into", "TOML", a.into, "put them into this scan file instead, one of the same scanner").file();
  table
      .value("--bead-spacing-mm", "MM", a.bead_spacing_mm,
             "mean distance of neighbouring beads along the axis, for the scale")
      .otherwise("source_axis_mm of the scan file is kept");
  table.value("--bead-diameter", "PIXELS", a.bead_diameter_px, "how large a bead is in the frames")
      .otherwise("measured");
  table.value("--plate-width-mm", "MM", a.plate_width_mm,
              "the frames show a plate of this width: measure the sampling interval");
  command->run = [arguments](Session& session) { return run_calibrate(*arguments, session); };
  return command;
}

}  // namespace lepus::app

// SPDX-License-Identifier: Apache-2.0
// lepus calibrate: the geometry from a scan of beads, or the sampling interval from frames of a plate.
#include <lepus/calibrate.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/commands.h"
#include "core/format.h"

namespace lepus::app {
namespace {

struct CalibrateArguments {
  std::string scan_file, output, into;
  bool write = false;
  std::optional<double> plate_width_mm, bead_spacing_mm, bead_diameter_px;
};

CalibrateOptions options_of(const CalibrateArguments& a, const Session& session) {
  CalibrateOptions o;
  o.output = a.output;
  o.write = a.write;
  o.into = a.into;
  o.bead_spacing_mm = a.bead_spacing_mm;
  o.bead_diameter_px = a.bead_diameter_px;
  o.plate_width_mm = a.plate_width_mm;
  o.call = session.call();
  return o;
}

std::string describe(const PlateResult& plate) {
  double sum = 0, n = 0;
  for (const double w : plate.widths_px) sum += w, n += w > 0 ? 1 : 0;
  return format(
      "plate     {:.4f} px wide, mean of {} frames\ninterval  {:.6g} +- {:.2g} mm where the plate stood\n\n"
      "Where it stood on the axis, a parallel beam's scan file takes it as\n[geometry]\n  pixel_width_mm = {:.6g}\n"
      "and a cone beam's as {:.6g} times source_detector_mm / source_axis_mm.\n",
      sum / n, n, plate.interval_mm, plate.error_mm, plate.interval_mm, plate.interval_mm);
}

std::string describe(const CalibrateReport& report, bool scale_from_beads) {
  const CalibrateResult& r = report.beads;
  const auto worst = std::max_element(r.view_rms_px.begin(), r.view_rms_px.end());
  std::string text = format(
      "beads     {}, {} sightings\nresidual  {:.4f} px rms, worst view {} with {:.4f} px\nscale     "
      "{}\n\n{:<22}{:>14}{:>14}{:>12}\n",
      r.beads_mm.size(), r.sightings, r.rms_px, worst - r.view_rms_px.begin(), *worst,
      scale_from_beads ? "from the distance of the beads along the axis" : "source_axis_mm was kept", "", "scan file",
      "found", "+-");
  std::string lines;
  for (const CalibratedKey& key : report.keys) {
    const double error = key.error.value_or(0);
    text += format("{:<22}{:>14.5f}{:>14.5f}{:>12}\n", key.name, key.given, key.found,
                   error > 0 ? format("{:.5f}", error) : "");
    lines += format("{} = {:.9g}\n", key.name, key.found);
  }
  return text +
         "\nIn the section [geometry] of a scan file, in place of lines with the same names (--write puts "
         "them there):\n\n" +
         lines;
}

nlohmann::json json_of(const PlateResult& plate) {
  return {{"interval_mm", plate.interval_mm},
          {"error_mm", plate.error_mm},
          {"widths_px", plate.widths_px},
          {"cut_off", plate.cut_off}};
}

nlohmann::json json_of(const CalibrateReport& report) {
  nlohmann::json geometry, errors;
  for (const CalibratedKey& key : report.keys) {
    geometry[key.name] = key.found;
    if (key.error) errors[key.name] = *key.error;
  }
  const CalibrateResult& r = report.beads;
  return {{"geometry", geometry},       {"errors", errors},
          {"rms_px", r.rms_px},         {"view_rms_px", r.view_rms_px},
          {"beads", r.beads_mm.size()}, {"sightings", r.sightings},
          {"left_out", r.left_out},     {"false_tracks", r.false_tracks}};
}

int run_calibrate(const CalibrateArguments& a, Session& session) {
  CalibrateOptions options = options_of(a, session);
  // Also where the keys can then not be written.
  options.found = [&](const CalibrateReport& found) {
    session.print(found.plate ? describe(*found.plate) : describe(found, a.bead_spacing_mm.has_value()));
  };
  const CalibrateReport report = calibrate(a.scan_file, options);
  session.result(report.plate ? json_of(*report.plate) : json_of(report));
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

// SPDX-License-Identifier: Apache-2.0
#include <lepus/calibrate.h>

#include "align/calibrate.h"
#include "api/circular_scan_of.h"
#include "api/refuse_option.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/output_file.h"
#include "job/outputs.h"
#include "scan/edit_scan.h"

namespace lepus {
namespace {

// "3-7, 12, 40"
std::string list_of_views(const std::vector<std::int64_t>& views) {
  std::string text;
  for (std::size_t i = 0; i < views.size();) {
    std::size_t j = i;
    while (j + 1 < views.size() && views[j + 1] == views[j] + 1) ++j;
    text += (text.empty() ? "" : ", ") + (j > i ? format("{}-{}", views[i], views[j]) : format("{}", views[i]));
    i = j + 1;
  }
  return text;
}

PlateResult measure_plate(const Scan& scan, double width_mm, Context& context) {
  if (!(width_mm > 0))
    throw Error(ErrorKind::usage, {.what = "the plate's width must be above zero",
                                   .where = "--plate-width-mm",
                                   .why = {},
                                   .hint = "give it in millimetres"});
  PlateMeter meter(scan.geometry.columns, scan.geometry.rows);
  each_frame(scan, context, [&](std::int64_t, std::span<const float> frame) { meter.add(frame); });
  PlateResult plate = meter.result(width_mm);
  if (!plate.cut_off.empty())
    context.progress.warning(
        format("the plate reaches the frame's edge in frames {}: they were left out", list_of_views(plate.cut_off)));
  return plate;
}

std::vector<BeadTrack> bead_tracks(const Scan& scan, const CircularScan& start, std::optional<double> diameter_px,
                                   Context& context) {
  double diameter = diameter_px.value_or(0);
  std::vector<BeadFrame> frames;
  each_frame(scan, context, [&](std::int64_t, std::span<const float> frame) {
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
    context.progress.warning(
        format("beads overlap in views {}: those were left out there", list_of_views(overlapping)));
  if (!leaving.empty())
    context.progress.warning(
        format("beads leave the detector in views {}: those were left out there", list_of_views(leaving)));
  return track_beads(frames, start.angles_rad, diameter);
}

std::vector<CalibratedKey> calibrated_keys(const CircularScan& given, const CalibrateResult& result) {
  const CircularScan& found = result.scan;
  std::vector<CalibratedKey> keys{{"source_axis_mm", given.source_axis_mm, found.source_axis_mm, {}},
                                  {"source_detector_mm", given.source_detector_mm, found.source_detector_mm, {}},
                                  {"detector_shift_u_mm", given.detector_shift_u_mm, found.detector_shift_u_mm, {}},
                                  {"detector_shift_v_mm", given.detector_shift_v_mm, found.detector_shift_v_mm, {}},
                                  {"axis_offset_mm", given.axis_offset_mm, found.axis_offset_mm, {}},
                                  {"in_plane_deg", degrees(given.in_plane_rad), degrees(found.in_plane_rad), {}},
                                  {"pitch_deg", degrees(given.pitch_rad), degrees(found.pitch_rad), {}},
                                  {"yaw_deg", degrees(given.yaw_rad), degrees(found.yaw_rad), {}}};
  for (CalibratedKey& key : keys)
    for (const auto& [name, error] : result.errors)
      if (name == key.name) key.error = error;
  return keys;
}

CalibrateReport calibrate_by_beads(const Scan& scan, const CalibrateOptions& options, Context& context) {
  const CircularScan start = circular_scan_of(scan);
  CalibrateReport report;
  report.beads =
      fit_geometry({start, bead_tracks(scan, start, options.bead_diameter_px, context), options.bead_spacing_mm});
  const CalibrateResult& beads = report.beads;
  if (!beads.bad_views.empty())
    context.progress.warning(format("{} sightings did not fit and were left out, in views {}", beads.left_out,
                                    list_of_views(beads.bad_views)));
  for (const auto& warning : beads.warnings) context.progress.warning(warning);
  report.keys = calibrated_keys(start, beads);
  return report;
}

std::string geometry_section(const CalibrateReport& report) {
  std::string toml = format("# Found by lepus calibrate from {} beads, residual {:.4f} px rms.\n[geometry]\n",
                            report.beads.beads_mm.size(), report.beads.rms_px);
  for (const CalibratedKey& key : report.keys) toml += format("{} = {:.9g}\n", key.name, key.found);
  return toml;
}

void check_calibrate_options(const CalibrateOptions& options) {
  if (options.plate_width_mm) check_finite(*options.plate_width_mm, "--plate-width-mm");
  if (options.bead_spacing_mm) check_finite(*options.bead_spacing_mm, "--bead-spacing-mm");
  if (options.bead_diameter_px && !(*options.bead_diameter_px >= 2 && *options.bead_diameter_px <= 1000))
    throw Error(ErrorKind::usage, {.what = format("beads of {} pixels are not looked for", *options.bead_diameter_px),
                                   .where = "option --bead-diameter",
                                   .why = {},
                                   .hint = "give 2 to 1000 pixels, or leave it out: it is measured"});
  if (!options.plate_width_mm) return;
  if (options.bead_spacing_mm || options.bead_diameter_px)
    throw Error(ErrorKind::usage, {.what = "the frames show a plate or beads",
                                   .where = "--plate-width-mm",
                                   .why = "what beads are like is said, too",
                                   .hint = "leave one of them out"});
  if (!options.output.empty())
    throw Error(ErrorKind::usage, {.what = "a plate's interval is not written as a section [geometry]",
                                   .where = "--output",
                                   .why = "it is the pixel's width at the axis, whose key depends on the beam",
                                   .hint = "leave --output out, and take the printed lines"});
}

std::optional<ScanFileEdit> edit_of_calibrated(const std::filesystem::path& scan_file,
                                               const CalibrateOptions& options) {
  std::optional<ScanFileEdit> edit;
  if (!options.write && options.into.empty()) return edit;
  if (options.plate_width_mm)
    throw Error(ErrorKind::usage, {.what = "a plate's interval is not written into a scan file",
                                   .where = "--write",
                                   .why = "it is the pixel's width at the axis, whose key depends on the beam",
                                   .hint = "leave --write out, and take the printed lines"});
  edit.emplace(options.into.empty() ? scan_file : options.into);
  return edit;
}

}  // namespace

CalibrateReport calibrate(const std::filesystem::path& scan_file, const CalibrateOptions& options) {
  check_calibrate_options(options);
  refuse_same_file(options.into, options.output);
  CallContext working(options.call);
  Context& context = working.context();
  const OutputLock lock = reserve_output(options.output, options.call.force, context.progress);
  const std::optional<ScanFileEdit> edit = edit_of_calibrated(scan_file, options);
  const Scan scan = read_scan(scan_file);
  check_output(scan, options.output, "what was found");
  for (const auto& warning : scan.warnings) context.progress.warning(warning);
  CalibrateReport report;
  if (options.plate_width_mm)
    report.plate = measure_plate(scan, *options.plate_width_mm, context);
  else
    report = calibrate_by_beads(scan, options, context);
  if (!options.output.empty() && !report.plate) {
    write_file(options.output, geometry_section(report), options.call.force);
    context.progress.note(format("wrote {}", options.output.string()));
  }
  if (options.found) options.found(report);
  if (edit) {
    NumbersOfKeys numbers;
    for (const CalibratedKey& key : report.keys) numbers.emplace_back(key.name, key.found);
    edit->write("geometry", numbers);
    context.progress.note(format("changed {}", edit->file().string()));
  }
  return report;
}

}  // namespace lepus

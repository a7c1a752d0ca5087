// SPDX-License-Identifier: Apache-2.0
#include <lepus/center.h>

#include <algorithm>

#include "align/center.h"
#include "align/center_picture.h"
#include "align/scan_rows.h"
#include "api/center_keys.h"
#include "api/refuse_option.h"
#include "core/call_context.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include "core/output_file.h"
#include "job/outputs.h"

namespace lepus {
namespace {

void check_center_options(const CenterOptions& options) {
  check_search(options.search);
  check_named(options.search.key, CenterKey::axis_offset, "CenterKey");
  if (options.column) check_finite(*options.column, "option --column");
  check_finite(options.trial_step_columns, "option --trial-step");
  if (options.bands < 1 || options.bands > 1000)
    refuse_option("--bands", format("{} heights cannot be looked at", options.bands), "give 1 to 1000");
}

CenterRequest center_request(const CenterOptions& options, std::int64_t memory_bytes) {
  CenterRequest request;
  request.options = options.search;
  request.bands = options.bands;
  request.row = options.row;
  request.memory_bytes = std::max<std::int64_t>(1, memory_bytes / 2);  // 0: no limit
  return request;
}

std::string why_tilt_was_not_sought(const CenterOptions& options, const CenterScan& rows, const CenterResult& axis) {
  const ScanGeometry& geometry = rows.input.geometry;
  if (axis.tilt_sought || !options.search.tilt || options.row || options.column || rows.arc ||
      geometry.beam == Beam::fan)
    return {};
  if (const auto needed = rows_for_tilt(geometry, rows.input.options); geometry.rows < needed)
    return format("{} rows are too few, {} are needed (fewer with --largest-tilt below {:g} degrees)",
                  geometry.rows * rows.binning, needed * rows.binning, options.search.largest_tilt_deg);
  return "it takes three bands or more (--bands, and memory for them)";
}

std::vector<TrialImage> center_trials(const CenterScan& rows, const CenterResult& in_input, double step_columns,
                                      Context& context) {
  std::vector<TrialImage> images;
  const auto band = static_cast<std::int64_t>(rows.input.bands.size() / 2);
  const auto binning = static_cast<double>(rows.binning);
  context.progress.begin("trial slices", 5);
  for (int i = -2; i <= 2; ++i) {
    const double column = in_input.column + i * step_columns / binning;
    images.push_back(trial_image(rows.input, band, column, in_input.in_plane_deg, context));
    images.back().column = rows.in_frames(PixelPosition{column, in_input.middle_row}).column;
    context.progress.advance();
  }
  context.progress.end();
  return images;
}

CenterResult center_taken_from_user(const CenterScan& rows, double column, Context& context) {
  CenterInput one = rows.input;
  one.options.tilt = false;
  const double taken = rows.in_input(PixelPosition{column, 0}).column;
  one.options.first = taken - 2;
  one.options.last = taken + 2;
  CenterResult axis = find_center(one, context);
  axis.column = taken;
  axis.column_error = 0;
  axis.known = true;
  axis.warnings.clear();
  return axis;
}

void write_center_keys(const ScanFileEdit& edit, const Scan& scan, const CenterReport& report, Progress& progress) {
  const auto refuse = [&](const char* why, const char* hint) {
    throw Error(ErrorKind::input,
                {.what = "nothing was written", .where = edit.file().string(), .why = why, .hint = hint});
  };
  if (!report.axis.known) refuse("the axis is not known", "see the warnings; --column takes a column of your own");
  if (report.geometry_keys.empty())
    refuse("its geometry comes from a file of matrices", "set geometry.center = \"auto\" to move their columns");
  edit.write("geometry", report.geometry_keys);
  progress.note(format("changed {}", edit.file().string()));
  if (scan.automatic_center)
    progress.note("its center = \"auto\" still looks for the axis in every run: set it to \"given\" to keep this one");
}

}  // namespace

CenterReport center(const std::filesystem::path& scan_file, const CenterOptions& options) {
  check_center_options(options);
  CallContext working(options.call);
  Context& context = working.context();
  const OutputLock lock = reserve_output(options.picture, options.call.force, context.progress);
  std::optional<ScanFileEdit> edit;
  if (options.write) edit.emplace(scan_file);
  const Scan scan = read_scan(scan_file);
  check_output(scan, options.picture, "the picture");
  const CenterScan rows = read_center_rows(scan, center_request(options, working.memory_bytes()), context);
  const CenterResult found =
      options.column ? center_taken_from_user(rows, *options.column, context) : find_center(rows.input, context);
  CenterReport report;
  report.axis = rows.in_frames(found);
  for (const auto& list : {scan.warnings, rows.warnings, report.axis.warnings})
    for (const auto& warning : list) context.progress.warning(warning);
  report.geometry_keys = center_keys(scan, report.axis, options.search.key);
  report.why_no_tilt = why_tilt_was_not_sought(options, rows, report.axis);
  if (!options.picture.empty()) {
    save_png(center_picture(report.axis, center_trials(rows, found, options.trial_step_columns, context)),
             options.picture, options.call.force);
    context.progress.note(format("wrote {}", options.picture.string()));
  }
  if (options.found) options.found(report);
  if (edit) write_center_keys(*edit, scan, report, context.progress);
  return report;
}

}  // namespace lepus

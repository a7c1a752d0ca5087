// SPDX-License-Identifier: Apache-2.0
// lepus center: where the rotation axis is seen, and the lines of the scan file that say so.
#include <lepus/center.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/commands.h"
#include "core/format.h"

namespace lepus::app {
namespace {

struct CenterArguments {
  std::string scan_file, method = "auto", key = "detector_shift_u_mm", picture;
  std::optional<double> first, last, column;
  double step = 0.5, detrend = 4, largest_tilt_deg = 1.5, trial_step = 1;
  std::optional<std::int64_t> row;
  std::int64_t bands = 5, image_size = 0;
  int lines = 12;
  bool no_tilt = false, write = false;
};

CenterMethod method_of(const std::string& word) {
  for (const CenterMethod m : {CenterMethod::sharpness, CenterMethod::conjugate, CenterMethod::wedge})
    if (word == name_of(m)) return m;
  return CenterMethod::automatic;
}

CenterOptions options_of(const CenterArguments& a, const Session& session) {
  CenterOptions o;
  o.search.method = method_of(a.method);
  o.search.key = a.key == "axis_offset_mm" ? CenterKey::axis_offset : CenterKey::detector_shift;
  o.search.first = a.first;
  o.search.last = a.last;
  o.search.step = a.step;
  o.search.detrend = a.detrend;
  o.search.tilt = !a.no_tilt;
  o.search.largest_tilt_deg = a.largest_tilt_deg;
  o.search.image_size = a.image_size;
  o.search.lines = a.lines;
  o.bands = a.bands;
  o.row = a.row;
  o.column = a.column;
  o.picture = a.picture;
  o.trial_step_columns = a.trial_step;
  o.write = a.write;
  o.call = session.call();
  return o;
}

std::string with_error(double value, double error, int digits) {
  return error > 0 ? format("{:.{}f} +- {:.{}f}", value, digits, error, digits) : format("{:.{}f}", value, digits);
}

std::string describe(const CenterReport& report, CenterKey key) {
  const CenterResult& r = report.axis;
  if (!r.known && r.column == r.given_column)
    return format("axis      not known; the scan file has column {:.3f} on row {:.1f}\n", r.given_column, r.middle_row);
  std::string text = format("axis      column {} on row {:.1f} (the scan file has {:.3f})\n",
                            with_error(r.column, r.column_error, 3), r.middle_row, r.given_column);
  if (r.tilt_found)
    text += format("in-plane  {} deg (the scan file has {:.4f})\n", with_error(r.in_plane_deg, r.in_plane_error_deg, 4),
                   r.given_in_plane_deg);
  else if (!report.why_no_tilt.empty())
    text += format("in-plane  not looked for: {}\n", report.why_no_tilt);
  text += format("method    {}{}\n", name_of(r.method), r.known ? "" : ", not to be trusted here");
  for (const RowCenter& row : r.rows) text += format("row {:<6.1f}column {:.3f}\n", row.row, row.column);
  if (report.geometry_keys.empty())
    return text + format("\nThe geometry comes from a file. Its columns must move by {:+.4f} px.\n",
                         r.column - r.given_column);
  std::string lines;
  for (const auto& [name, value] : report.geometry_keys) lines += format("{} = {:.9g}\n", name, value);
  return text +
         (key == CenterKey::detector_shift
              ? "\nIn the section [geometry] of the scan file, in place of lines with the same names (--write puts "
                "them there),\nif the detector stands aside and the central ray meets the axis (what most tools mean "
                "by the centre;\n--key axis_offset_mm moves the axis instead):\n\n"
              : "\nIn the section [geometry] of the scan file, in place of lines with the same names (--write puts "
                "them there),\nif the axis stands beside the central ray (--key detector_shift_u_mm moves the detector "
                "instead):\n\n") +
         lines;
}

int run_center(const CenterArguments& a, Session& session) {
  CenterOptions options = options_of(a, session);
  // Also where the keys can then not be written.
  options.found = [&](const CenterReport& found) { session.print(describe(found, options.search.key)); };
  const CenterReport report = center(a.scan_file, options);
  const CenterResult& r = report.axis;
  nlohmann::json keys;
  for (const auto& [name, value] : report.geometry_keys) keys[name] = value;
  nlohmann::json object{{"column", r.column},
                        {"column_error", r.column_error},
                        {"given_column", r.given_column},
                        {"middle_row", r.middle_row},
                        {"in_plane_deg", r.in_plane_deg},
                        {"in_plane_error_deg", r.in_plane_error_deg},
                        {"given_in_plane_deg", r.given_in_plane_deg},
                        {"tilt_found", r.tilt_found},
                        {"known", r.known},
                        {"method", name_of(r.method)},
                        {"geometry", keys}};
  for (const RowCenter& row : r.rows) object["rows"].push_back({{"row", row.row}, {"column", row.column}});
  for (const ScorePoint& p : r.curve)
    object["curve"].push_back({p.column, std::isfinite(p.score) ? nlohmann::json(p.score) : nlohmann::json()});
  session.result(object);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> center_command() {
  auto arguments = std::make_shared<CenterArguments>();
  auto command = std::make_unique<Command>();
  command->name = "center";
  command->summary = "find the column on which the rotation axis is seen";
  command->description =
      "Reads a few bands of rows of all views and finds where the rotation axis is projected, and at what angle it "
      "crosses the rows. Prints the keys of [geometry] that say so; --write puts them there.\n\n"
      "Methods: conjugate compares rays that were measured from both ends (full turn and short scans; in a parallel "
      "beam 0 and 180 degrees); wedge fits a parallel half turn's sinogram to its mirror image in Fourier space; "
      "sharpness reconstructs a slice for every column and takes the one with the highest mean frequency.";
  command->examples = {{"lepus center scan.toml", "the column, the angle, and the lines for the scan file"},
                       {"lepus center scan.toml --method sharpness --first 14 --last 17 --picture center.png",
                        "by trial reconstructions, with a picture of the curve and of five trials"}};
  command->writes = true;
  OptionTable& table = command->options;
  CenterArguments& a = *arguments;
  table.positional("SCAN", a.scan_file, "the scan file (TOML)").must().file();
  table.value("--method", "METHOD", a.method, "what is compared").one_of({"auto", "conjugate", "wedge", "sharpness"});
  table.value("--key", "KEY", a.key, "what is moved to put the axis there")
      .one_of({"detector_shift_u_mm", "axis_offset_mm"});
  table.value("--picture", "PNG", a.picture, "the score over the columns, and trial slices on the best and beside it")
      .file();
  table.flag("--write", a.write, "put the keys that were found into the scan file; all else in it stays");
  table.value("--column", "COLUMN", a.column, "take this column: nothing is searched, its lines and picture are made");
  table.group("Search");
  table.value("--first", "COLUMN", a.first, "first column that is tried")
      .otherwise("a quarter of the detector before the scan file's");
  table.value("--last", "COLUMN", a.last, "last column that is tried").otherwise("as far behind it");
  table.value("--step", "COLUMNS", a.step, "step of the coarse search; it is refined from there");
  table.value("--row", "ROW", a.row, "look at this row only, counted from the first that the scan file selects");
  table.value("--bands", "N", a.bands, "heights on the detector that are looked at");
  table.flag("--no-tilt", a.no_tilt, "leave the in-plane angle as it is");
  table.value("--largest-tilt", "DEG", a.largest_tilt_deg, "largest in-plane angle that is looked for");
  table.group("Trial reconstructions");
  table.value("--image-size", "PIXELS", a.image_size, "side of the trial image").otherwise("as many as columns");
  table.value("--lines", "N", a.lines, "rows and columns of the image whose spectrum counts");
  table.value("--detrend", "COLUMNS", a.detrend, "width of the running mean that is taken off the curve; 0: none");
  table.value("--trial-step", "COLUMNS", a.trial_step, "distance of the trials in the picture");
  command->run = [arguments](Session& session) { return run_center(*arguments, session); };
  return command;
}

}  // namespace lepus::app

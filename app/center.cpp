// SPDX-License-Identifier: Apache-2.0
// lepus center: where the rotation axis is seen, and the lines of the scan file that say so.
#include <cmath>

#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "align/center_picture.h"
#include "align/scan_rows.h"
#include "app/command.h"
#include "app/commands.h"
#include "core/format.h"
#include "scan/edit_scan.h"

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

CenterRequest request_of(const CenterArguments& a, const Session& session) {
  CenterRequest r;
  r.options.method = method_of(a.method);
  r.options.key = a.key == "axis_offset_mm" ? CenterKey::axis_offset : CenterKey::detector_shift;
  r.options.first = a.first;
  r.options.last = a.last;
  r.options.step = a.step;
  r.options.detrend = a.detrend;
  r.options.tilt = !a.no_tilt;
  r.options.largest_tilt_deg = a.largest_tilt_deg;
  r.options.image_size = a.image_size;
  r.options.lines = a.lines;
  r.bands = a.bands;
  r.row = a.row;
  r.memory_bytes = session.memory_bytes() / 2;
  return r;
}

// The keys of [geometry] that put the axis where it was found; none where the geometry comes from a file of matrices.
struct GeometryKeys {
  std::string lines;
  NumbersOfKeys numbers;
  nlohmann::json json;
};

// Of a tilted detector's rows (docs/geometry.md), as the view sees them: across the beam and along it.
struct RowDirection {
  double across, depth;
};
RowDirection row_direction(double yaw_deg, double pitch_deg, double in_plane_deg) {
  const double y = radians(yaw_deg), p = radians(pitch_deg), i = radians(in_plane_deg);
  return {std::cos(y) * std::cos(i) + std::sin(y) * std::sin(p) * std::sin(i),
          std::cos(y) * std::sin(p) * std::sin(i) - std::sin(y) * std::cos(i)};
}

GeometryKeys geometry_keys(const Scan& scan, const CenterResult& r, CenterKey key) {
  const toml::table resolved = toml::parse(scan.resolved);
  const auto geometry = resolved["geometry"];
  const auto number = [&](const char* name) { return geometry[name].value<double>(); };
  const auto width = number("pixel_width_mm");
  if (!width || !number("detector_shift_u_mm")) return {};
  const double middle = 0.5 * static_cast<double>(scan.geometry.columns - 1);
  const bool flat_of_arc = scan.geometry.recorded_on_arc && key == CenterKey::axis_offset;
  const double sign = geometry["mirror_columns"].value_or(false) ? -1 : 1;
  const auto u_mm = [&](double column) {  // from the detector's middle, along the middle row
    if (flat_of_arc) column = ArcMap(scan.geometry).to_flat({column, r.middle_row}).column;
    return sign * (column - middle) * *width;
  };
  const auto degrees_of = [&](const char* name) { return number(name).value_or(0); };
  const double given_in_plane_deg = degrees_of("in_plane_deg");
  // A yawed and pitched detector sees an upright axis at an angle that is not its own.
  const double in_plane_deg = given_in_plane_deg + (r.tilt_matters() ? r.in_plane_deg - r.given_in_plane_deg : 0);
  const RowDirection given = row_direction(degrees_of("yaw_deg"), degrees_of("pitch_deg"), given_in_plane_deg);
  const RowDirection found = row_direction(degrees_of("yaw_deg"), degrees_of("pitch_deg"), in_plane_deg);
  // Source, axis and the pixel that sees it lie in one plane: with u along the row,
  //   shift + u across = offset (source_detector + u depth) / source_axis.
  const bool parallel = scan.geometry.beam == Beam::parallel;
  const double per_mm = parallel ? 0 : 1 / number("source_axis_mm").value_or(1);
  const double magnification = parallel ? 1 : number("source_detector_mm").value_or(1) * per_mm;
  const double offset = number("axis_offset_mm").value_or(0);
  const auto shift_for = [&](double u, const RowDirection& row) {
    return offset * (magnification + u * per_mm * row.depth) - u * row.across;
  };
  const double u = u_mm(r.column), shift = shift_for(u_mm(r.given_column), given);
  GeometryKeys keys;
  if (key == CenterKey::detector_shift)
    keys.json["detector_shift_u_mm"] = *number("detector_shift_u_mm") + shift_for(u, found) - shift;
  else
    keys.json["axis_offset_mm"] = (shift + u * found.across) / (magnification + u * per_mm * found.depth);
  if (r.tilt_matters()) keys.json["in_plane_deg"] = in_plane_deg;
  for (const auto& [name, value] : keys.json.items()) {
    keys.numbers.emplace_back(name, value.get<double>());
    keys.lines += format("{} = {:.9g}\n", name, value.get<double>());
  }
  return keys;
}

std::string with_error(double value, double error, int digits) {
  return error > 0 ? format("{:.{}f} +- {:.{}f}", value, digits, error, digits) : format("{:.{}f}", value, digits);
}

std::string describe(const CenterResult& r, const GeometryKeys& keys, CenterKey key, const std::string& no_tilt) {
  if (!r.known && r.column == r.given_column)
    return format("axis      not known; the scan file has column {:.3f} on row {:.1f}\n", r.given_column, r.middle_row);
  std::string text = format("axis      column {} on row {:.1f} (the scan file has {:.3f})\n",
                            with_error(r.column, r.column_error, 3), r.middle_row, r.given_column);
  if (r.tilt_found)
    text += format("in-plane  {} deg (the scan file has {:.4f})\n", with_error(r.in_plane_deg, r.in_plane_error_deg, 4),
                   r.given_in_plane_deg);
  else if (!no_tilt.empty())
    text += format("in-plane  not looked for: {}\n", no_tilt);
  text += format("method    {}{}\n", name_of(r.method), r.known ? "" : ", not to be trusted here");
  for (const RowCenter& row : r.rows) text += format("row {:<6.1f}column {:.3f}\n", row.row, row.column);
  if (keys.lines.empty())
    return text + format("\nThe geometry comes from a file. Its columns must move by {:+.4f} px.\n",
                         r.column - r.given_column);
  return text +
         (key == CenterKey::detector_shift
              ? "\nIn the section [geometry] of the scan file, in place of lines with the same names (--write puts "
                "them there),\nif the detector stands aside and the central ray meets the axis (what most tools mean "
                "by the centre;\n--key axis_offset_mm moves the axis instead):\n\n"
              : "\nIn the section [geometry] of the scan file, in place of lines with the same names (--write puts "
                "them there),\nif the axis stands beside the central ray (--key detector_shift_u_mm moves the detector "
                "instead):\n\n") +
         keys.lines;
}

// Why the in-plane angle was not looked for although nobody said so.
std::string why_no_tilt(const CenterArguments& a, const CenterScan& rows, const CenterResult& r) {
  if (r.tilt_sought || a.no_tilt || a.row || a.column || rows.arc || rows.input.geometry.beam == Beam::fan) return {};
  if (const auto needed = rows_for_tilt(rows.input.geometry, rows.input.options); rows.input.geometry.rows < needed)
    return format("{} rows are too few, {} are needed (fewer with --largest-tilt below {:g} degrees)",
                  rows.input.geometry.rows * rows.binning, needed * rows.binning, a.largest_tilt_deg);
  return "it takes three bands or more (--bands, and memory for them)";
}

std::vector<TrialImage> trials(const CenterScan& rows, const CenterResult& in_input, double trial_step,
                               Session& session) {
  std::vector<TrialImage> images;
  const auto band = static_cast<std::int64_t>(rows.input.bands.size() / 2);
  const auto binning = static_cast<double>(rows.binning);
  session.context().progress.begin("trial slices", 5);
  for (int i = -2; i <= 2; ++i) {
    const double column = in_input.column + i * trial_step / binning;
    images.push_back(trial_image(rows.input, band, column, in_input.in_plane_deg, session.context()));
    images.back().column = rows.in_frames(PixelPosition{column, in_input.middle_row}).column;
    session.context().progress.advance();
  }
  session.context().progress.end();
  return images;
}

CenterResult taken_from_user(const CenterScan& rows, double column, Session& session) {
  CenterInput one = rows.input;
  one.options.tilt = false;
  const double taken = rows.in_input(PixelPosition{column, 0}).column;
  one.options.first = taken - 2;
  one.options.last = taken + 2;
  CenterResult r = find_center(one, session.context());
  r.column = taken;
  r.column_error = 0;
  r.known = true;
  r.warnings.clear();
  return r;
}

void write_keys(const ScanFileEdit& edit, const Scan& scan, const CenterResult& r, const GeometryKeys& keys,
                Session& session) {
  const auto refuse = [&](const char* why, const char* hint) {
    throw Error(ErrorKind::input,
                {.what = "nothing was written", .where = edit.file().string(), .why = why, .hint = hint});
  };
  if (!r.known) refuse("the axis is not known", "see the warnings; --column takes a column of your own");
  if (keys.numbers.empty())
    refuse("its geometry comes from a file of matrices", "set geometry.center = \"auto\" to move their columns");
  edit.write("geometry", keys.numbers);
  session.note(format("changed {}", edit.file().string()));
  if (scan.automatic_center)
    session.note("its center = \"auto\" still looks for the axis in every run: set it to \"given\" to keep this one");
}

int run_center(const CenterArguments& a, Session& session) {
  const OutputLock lock = session.reserve(a.picture);
  std::optional<ScanFileEdit> edit;
  if (a.write) edit.emplace(a.scan_file);
  const Scan scan = read_scan(a.scan_file);
  const CenterRequest request = request_of(a, session);
  const CenterScan rows = read_center_rows(scan, request, session.context());
  const CenterResult found =
      a.column ? taken_from_user(rows, *a.column, session) : find_center(rows.input, session.context());
  const CenterResult r = rows.in_frames(found);
  for (const auto& list : {scan.warnings, rows.warnings, r.warnings})
    for (const auto& warning : list) session.context().progress.warning(warning);
  const GeometryKeys keys = geometry_keys(scan, r, request.options.key);
  if (!a.picture.empty()) {
    save_png(center_picture(r, trials(rows, found, a.trial_step, session)), a.picture, session.common().force);
    session.note(format("wrote {}", a.picture));
  }
  session.print(describe(r, keys, request.options.key, why_no_tilt(a, rows, r)));
  if (edit) write_keys(*edit, scan, r, keys, session);
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
                        {"geometry", keys.json}};
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

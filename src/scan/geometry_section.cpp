// SPDX-License-Identifier: Apache-2.0
// [geometry] -> the matrices of the selected views and rows, from exactly one of: parameters of a circular scan, a file
// of matrices, another program's file.
#include "core/format.h"
#include "geometry/arc.h"
#include "geometry/exchange.h"
#include "geometry/helix.h"
#include "io/number_file.h"
#include "scan/sections.h"

namespace lepus {
namespace {

// Keys that may stand beside matrices_file or import_file; all others but `center` describe a circular scan.
bool goes_with(std::string_view key, std::string_view source, std::string_view import_format) {
  if (key == "columns" || key == "rows" || key == "center" || key == source) return true;
  if (source == "matrices_file") return key == "matrices_unit" || key == "beam" || key == "source_detector_mm";
  if (key == "import_format") return true;
  if (key == "beam" || key == "import_unit_mm") return import_format == "astra";
  if (key == "pixel_width_mm" || key == "pixel_height_mm" || key == "import_first_pixel_mm")
    return import_format == "rtk";
  return key == "import_first_row" && (import_format == "rtk" || import_format == "tigre");
}

std::string format_of_import(const ScanDocument& document) {
  if (const auto given = document.find<std::string>("geometry.import_format")) return *given;
  const auto ending = document.path_of("geometry.import_file").extension();
  if (ending == ".xml") return "rtk";
  if (ending == ".header") return "xrad";
  return document.require<std::string>("geometry.import_format", "the ending of import_file does not tell it");
}

// The one key that says where the geometry comes from; "" for parameters.
std::string geometry_source(const ScanDocument& document, Resolution& resolution) {
  std::string source, import_format;
  if (document.given("geometry.matrices_file"))
    source = "matrices_file";
  else if (document.given("geometry.import_file")) {
    source = "import_file";
    import_format = format_of_import(document);
    resolution.derived["geometry.import_format"] = import_format;
  }
  for (const auto& key : scan_keys()) {
    if (key.section != "geometry") continue;
    const std::string name = format("geometry.{}", key.name);
    const bool of_matrices = key.name == "matrices_unit", of_import = key.name.starts_with("import_");
    if (source.empty() ? !of_matrices && !of_import : goes_with(key.name, source, import_format)) continue;
    resolution.inactive.insert(name);
    if (!document.given(name)) continue;
    if (of_matrices || (of_import && key.name != "import_file"))
      document.fail(name, format("{} has no use here", name),
                    source == "import_file" ? format("the import_format is {}", import_format)
                                            : format("there is no {}", of_matrices ? "matrices_file" : "import_file"),
                    "leave it out");
    document.fail(name, "the geometry is given twice", format("geometry.{} and {}", source, name), "keep one of them");
  }
  return source;
}

void check_detector_size(const ScanDocument& document, const RecordedFrames& recorded) {
  for (const auto& [key, size] : {std::pair{"geometry.columns", recorded.columns}, {"geometry.rows", recorded.rows}})
    if (const auto given = document.find<std::int64_t>(key); given && *given != size)
      document.fail(
          key, "the frames have another size than the geometry",
          format("{} = {}, the frames are {} columns x {} rows", key, *given, recorded.columns, recorded.rows),
          "correct the key, or leave it out: the frames say it themselves");
}

Beam beam_of(const std::string& word) {
  return word == "parallel" ? Beam::parallel : word == "fan" ? Beam::fan : Beam::cone;
}

// Ten numbers, in the order of the keys' description.
ViewPerturbation perturbation_of(const double* p) {
  return {.source_mm = {p[0], p[1], p[2]},
          .detector_mm = {p[3], p[4], p[5]},
          .in_plane_rad = radians(p[6]),
          .pitch_rad = radians(p[7]),
          .yaw_rad = radians(p[8]),
          .angle_rad = radians(p[9])};
}
constexpr const char* perturbation_order =
    "source u, v, depth (mm), detector u, v, depth (mm), in-plane, pitch, yaw (deg), angle (deg)";

std::vector<ViewPerturbation> perturbations(const ScanDocument& document, std::int64_t frames) {
  const std::string key = "geometry.perturbations_file", list_key = "geometry.view_perturbations";
  if (const auto list = document.find<std::vector<double>>(list_key)) {
    if (document.given(key))
      document.fail(list_key, "the perturbations are given twice", format("{} and {}", key, list_key),
                    "keep one of them");
    if (static_cast<std::int64_t>(list->size()) != 10 * frames)
      document.fail(list_key, "the perturbations do not match the frames",
                    format("{} has {} numbers, there are {} frames", list_key, list->size(), frames),
                    format("give ten numbers for each frame: {}", perturbation_order));
    std::vector<ViewPerturbation> all;
    for (std::size_t i = 0; i < list->size(); i += 10) all.push_back(perturbation_of(list->data() + i));
    return all;
  }
  if (!document.given(key)) return {};
  const auto file = document.path_of(key);
  const NumberFile numbers = located(document, key, [&] { return read_number_file(file); });
  const auto& n = numbers.values;
  std::vector<ViewPerturbation> all;
  for (std::size_t i = 0; i < n.size(); i += 10) {
    const bool whole = i + 10 <= n.size() && numbers.lines[i] == numbers.lines[i + 9] &&
                       (i + 10 == n.size() || numbers.lines[i + 10] != numbers.lines[i]);
    if (!whole)
      document.fail(key, "a line of the perturbations does not hold 10 numbers",
                    format("{}:{}", file.string(), numbers.lines[i]), perturbation_order);
    all.push_back(perturbation_of(n.data() + i));
  }
  if (static_cast<std::int64_t>(all.size()) != frames)
    document.fail(key, "the perturbations do not match the frames",
                  format("{} has {} lines, there are {} frames", file.string(), all.size(), frames),
                  "give one line for each frame");
  return all;
}

// Shifts of single views are perturbations of the detector, beside those above.
void add_view_shifts(const ScanDocument& document, std::int64_t frames, std::vector<ViewPerturbation>& all) {
  for (const auto& [key, direction] :
       {std::pair{"geometry.view_shifts_u_mm", &Vec3::x}, std::pair{"geometry.view_shifts_v_mm", &Vec3::y}}) {
    const auto shifts = document.find<std::vector<double>>(key);
    if (!shifts) continue;
    if (static_cast<std::int64_t>(shifts->size()) != frames)
      document.fail(key, "the shifts do not match the frames",
                    format("{} has {} numbers, there are {} frames", key, shifts->size(), frames),
                    "give one number for each frame");
    all.resize(shifts->size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i].detector_mm.*direction += (*shifts)[i];
  }
}

CircularScan circular_scan(const ScanDocument& document, const Scan& scan, Resolution& resolution) {
  const std::string beam = document.get<std::string>("geometry.beam");
  CircularScan circle;
  circle.beam = beam_of(beam);
  circle.arc = document.get<std::string>("geometry.detector") == "arc";
  const std::string because = format("the geometry is a {} beam scan given by its parameters", beam);
  if (circle.beam != Beam::parallel) {
    circle.source_axis_mm = document.require<double>("geometry.source_axis_mm", because);
    circle.source_detector_mm = document.require<double>("geometry.source_detector_mm", because);
    if (circle.source_detector_mm < circle.source_axis_mm)
      document.fail(
          "geometry.source_detector_mm", "the detector lies between the source and the rotation axis",
          format("source_detector_mm = {}, source_axis_mm = {}", circle.source_detector_mm, circle.source_axis_mm),
          "both are counted from the source; are the two swapped?", ErrorKind::geometry);
  }
  circle.columns = scan.recorded.columns;
  circle.rows = scan.recorded.rows;
  circle.pixel_width_mm = document.require<double>("geometry.pixel_width_mm", because);
  circle.pixel_height_mm = document.find<double>("geometry.pixel_height_mm").value_or(circle.pixel_width_mm);
  resolution.derived["geometry.pixel_height_mm"] = circle.pixel_height_mm;
  circle.detector_shift_u_mm = document.get<double>("geometry.detector_shift_u_mm");
  circle.detector_shift_v_mm = document.get<double>("geometry.detector_shift_v_mm");
  circle.axis_offset_mm = document.get<double>("geometry.axis_offset_mm");
  circle.in_plane_rad = radians(document.get<double>("geometry.in_plane_deg"));
  circle.pitch_rad = radians(document.get<double>("geometry.pitch_deg"));
  circle.yaw_rad = radians(document.get<double>("geometry.yaw_deg"));
  circle.mirror_columns = document.get<bool>("geometry.mirror_columns");
  circle.mirror_rows = document.get<bool>("geometry.mirror_rows");
  circle.angles_rad = recorded_angles_rad(document, scan, resolution);
  circle.perturbations = perturbations(document, scan.recorded.frames);
  add_view_shifts(document, scan.recorded.frames, circle.perturbations);
  return circle;
}

// Options that both kinds of file share, and the checks of what came out.
ScanGeometry from_file(const ScanDocument& document, const Scan& scan, const std::string& key, const std::string& kind,
                       GeometryFileOptions options, Resolution& resolution) {
  options.columns = scan.recorded.columns;
  options.rows = scan.recorded.rows;
  if (document.given("geometry.beam")) options.beam = beam_of(document.get<std::string>("geometry.beam"));
  const auto file = document.path_of(key);
  ScanGeometry geometry = located(document, key, [&] { return read_geometry(file, kind, options); });
  if (geometry.views() != scan.recorded.frames)
    document.fail(key, "the geometry does not match the frames",
                  format("{} has {} views, there are {} frames", file.string(), geometry.views(), scan.recorded.frames),
                  "give one view for each frame, flats and darks left out");
  const auto& arc = geometry.recorded_on_arc;
  const std::int64_t columns = arc ? arc->columns : geometry.columns, rows = arc ? arc->rows : geometry.rows;
  if (columns != scan.recorded.columns || rows != scan.recorded.rows)
    document.fail(key, "the frames have another size than the geometry",
                  format("{} is for {} columns x {} rows, the frames are {} x {}", file.string(), columns, rows,
                         scan.recorded.columns, scan.recorded.rows),
                  "use the geometry that belongs to these frames");
  if (!resolution.inactive.contains("geometry.beam"))
    resolution.derived["geometry.beam"] = std::string(geometry.beam == Beam::cone  ? "cone"
                                                      : geometry.beam == Beam::fan ? "fan"
                                                                                   : "parallel");
  return geometry;
}

ScanGeometry from_matrices(const ScanDocument& document, const Scan& scan, const std::optional<VolumeGrid>& voxels,
                           Resolution& resolution) {
  GeometryFileOptions options;
  options.source_detector_mm = document.find<double>("geometry.source_detector_mm").value_or(0);
  if (document.get<std::string>("geometry.matrices_unit") == "voxels") {
    if (!voxels)
      document.fail("geometry.matrices_unit", "matrices in voxel indices need a volume",
                    "[volume] does not give both size and voxel_mm",
                    "give size = [nx, ny, nz] and voxel_mm, those the matrices were made for");
    options.voxel_index = voxels;
  }
  return from_file(document, scan, "geometry.matrices_file", "matrices", options, resolution);
}

ScanGeometry from_import(const ScanDocument& document, const Scan& scan, Resolution& resolution) {
  GeometryFileOptions options;
  options.pixel_width_mm = document.find<double>("geometry.pixel_width_mm").value_or(0);
  options.pixel_height_mm = document.find<double>("geometry.pixel_height_mm").value_or(options.pixel_width_mm);
  options.unit_mm = document.find<double>("geometry.import_unit_mm").value_or(0);
  if (const auto row = document.find<std::string>("geometry.import_first_row"))
    options.first_row_on_top = *row == "top";
  if (const auto pixel = document.find<std::vector<double>>("geometry.import_first_pixel_mm"))
    options.first_pixel_mm = Vec3{(*pixel)[0], (*pixel)[1], 0};
  return from_file(document, scan, "geometry.import_file", format_of_import(document), options, resolution);
}

void select_views(ScanGeometry& geometry, const std::vector<std::int64_t>& views) {
  std::vector<Matrix34> chosen;
  chosen.reserve(views.size());
  for (const auto view : views) chosen.push_back(geometry.matrices[static_cast<std::size_t>(view)]);
  geometry.matrices = std::move(chosen);
}

}  // namespace

void select_rows(ScanGeometry& geometry, const FrameSelection& selection) {
  const auto step = static_cast<double>(selection.row_step);
  auto first = static_cast<double>(selection.first_row);
  geometry.rows = selection.rows;
  if (auto& arc = geometry.recorded_on_arc) {
    // The recorded rows are those of the arc; the flat detector around them is another one, lower and coarser, and
    // heights from the central ray are the same on both.
    const double central_row = cover_arc(*arc, geometry.beam).central_row;
    arc->central_row = (arc->central_row - first) / step;
    arc->pixel_height_mm *= step;
    arc->rows = selection.rows;
    const FlatCover cover = cover_arc(*arc, geometry.beam);
    geometry.rows = cover.rows;
    first = central_row - step * cover.central_row;
  }
  for (auto& matrix : geometry.matrices)
    for (int j = 0; j < 4; ++j) {
      // A fan's second row gives v itself, not v*w.
      const double w = geometry.beam == Beam::fan ? (j == 3 ? 1.0 : 0.0) : matrix(2, j);
      matrix(1, j) = (matrix(1, j) - first * w) / step;
    }
}

ScanGeometry read_geometry_section(const ScanDocument& document, const Scan& scan,
                                   const std::optional<VolumeGrid>& voxels, Resolution& resolution) {
  const std::string source = geometry_source(document, resolution);
  check_detector_size(document, scan.recorded);
  resolution.derived["geometry.columns"] = scan.recorded.columns;
  resolution.derived["geometry.rows"] = scan.recorded.rows;
  ScanGeometry geometry;
  if (source == "matrices_file")
    geometry = from_matrices(document, scan, voxels, resolution);
  else if (source == "import_file")
    geometry = from_import(document, scan, resolution);
  else {
    const CircularScan circle = circular_scan(document, scan, resolution);
    const double pitch = document.get<double>("geometry.pitch_mm");
    geometry = located(document, "geometry", [&] { return build_scan(with_helix(circle, pitch)); });
  }
  select_rows(geometry, scan.selection);
  select_views(geometry, scan.selection.frames);
  return geometry;
}

}  // namespace lepus

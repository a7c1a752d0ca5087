// SPDX-License-Identifier: Apache-2.0
// ASTRA's cone_vec and parallel3d_vec: 12 numbers per view (source or ray, middle of the detector, column step, row
// step) in its volume's axes, which are ours, in units of its voxel. As text that numpy.loadtxt reads.
#include "core/format.h"
#include "geometry/exchange_text.h"
#include "geometry/view_vectors.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr const char* cone_mark = "# astra cone_vec";
constexpr const char* parallel_mark = "# astra parallel3d_vec";

}  // namespace

ScanGeometry parse_astra(const std::string& text, const std::string& name, const GeometryFileOptions& options) {
  const bool says_parallel = text.find(parallel_mark) != std::string::npos;
  const Notes notes = parse_notes(text, says_parallel ? parallel_mark : cone_mark);
  const FrameLayout layout = frame_layout(options, notes, name);
  double unit = options.unit_mm;
  if (!(unit > 0)) unit = notes.contains("unit_mm") ? parse_number(notes.at("unit_mm"), name + ", note unit_mm") : 1;

  ScanGeometry geometry;
  geometry.beam = options.beam.value_or(says_parallel ? Beam::parallel : Beam::cone);
  if (geometry.beam == Beam::fan)
    throw Error(ErrorKind::usage, {.what = "ASTRA's vectors are of a cone or a parallel beam",
                                   .where = name,
                                   .why = "a fan was asked for",
                                   .hint = "use cone"});
  geometry.columns = layout.columns;
  geometry.rows = layout.rows;
  const std::vector<double> n = parse_numbers(text, name);
  if (n.size() % 12 != 0)
    throw Error(ErrorKind::input, {.what = "the vectors are not complete",
                                   .where = name,
                                   .why = format("{} numbers are not 12 per view", n.size()),
                                   .hint = "check the file"});
  for (std::size_t i = 0; i < n.size(); i += 12) {
    const auto vector = [&](std::size_t at) { return Vec3{n[i + at], n[i + at + 1], n[i + at + 2]}; };
    ViewVectors v{vector(0), unit * vector(3), unit * vector(6), unit * vector(9)};
    if (geometry.beam == Beam::cone) v.source_mm = unit * v.source_mm;
    geometry.matrices.push_back(
        matrix_of(v, geometry.beam, layout.columns, layout.rows, static_cast<std::int64_t>(i / 12)));
    if (i == 0 && geometry.beam == Beam::cone)
      geometry.source_detector_mm =
          std::abs(dot(normalized(cross(v.column_step_mm, v.row_step_mm)), v.middle_mm - v.source_mm));
  }
  return geometry;
}

std::string format_astra(const ScanGeometry& geometry, const GeometryFileOptions& options) {
  const double unit = options.unit_mm > 0 ? options.unit_mm : 1;
  const bool parallel = geometry.beam == Beam::parallel;
  std::string text = format("{} columns=\"{}\" rows=\"{}\" unit_mm=\"{:.17g}\"\n", parallel ? parallel_mark : cone_mark,
                            geometry.columns, geometry.rows, unit);
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const ViewVectors v = vectors_of(geometry, view, "ASTRA");
    const Vec3 vectors[4] = {parallel ? v.source_mm : v.source_mm / unit, v.middle_mm / unit, v.column_step_mm / unit,
                             v.row_step_mm / unit};
    for (int i = 0; i < 4; ++i)
      text += format("{:.17g} {:.17g} {:.17g}{}", vectors[i].x, vectors[i].y, vectors[i].z, i < 3 ? " " : "\n");
  }
  return text;
}

}  // namespace lepus

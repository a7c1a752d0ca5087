// SPDX-License-Identifier: Apache-2.0
// Matrices given directly: 12 numbers per view, row by row, in any scaling, from millimetres or from voxel indices.
#include <algorithm>

#include "core/format.h"
#include "geometry/camera.h"
#include "geometry/exchange_text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr const char* matrices_mark = "# lepus matrices";

}  // namespace

ScanGeometry parse_matrices(const std::string& text, const std::string& name, const GeometryFileOptions& options) {
  const Notes notes = parse_notes(text, matrices_mark);
  const FrameLayout layout = frame_layout(options, notes, name);
  ScanGeometry geometry;
  geometry.beam = notes.contains("beam") ? parse_beam(notes.at("beam"), name) : Beam::cone;
  geometry.beam = options.beam.value_or(geometry.beam);
  geometry.columns = layout.columns;
  geometry.rows = layout.rows;
  geometry.source_detector_mm = options.source_detector_mm;
  if (!(geometry.source_detector_mm > 0) && notes.contains("source_detector_mm"))
    geometry.source_detector_mm = parse_number(notes.at("source_detector_mm"), name + ", note source_detector_mm");
  const std::vector<double> n = parse_numbers(text, name);
  if (n.size() % 12 != 0)
    throw Error(ErrorKind::input, {.what = "the matrices are not complete",
                                   .where = name,
                                   .why = format("{} numbers are not 12 per view", n.size()),
                                   .hint = "give 12 numbers per view, row by row"});
  for (std::size_t i = 0; i < n.size(); i += 12) {
    Matrix34 p;
    std::copy_n(n.begin() + static_cast<std::ptrdiff_t>(i), 12, p.m.begin());
    if (options.voxel_index) p = from_voxel_indices(p, *options.voxel_index);
    geometry.matrices.push_back(normalised(p, geometry.beam, static_cast<std::int64_t>(i / 12)));
  }
  return geometry;
}

std::string format_matrices(const ScanGeometry& geometry, const GeometryFileOptions& options) {
  std::string text = format("{} beam=\"{}\" columns=\"{}\" rows=\"{}\" source_detector_mm=\"{:.17g}\"\n", matrices_mark,
                            beam_name(geometry.beam), geometry.columns, geometry.rows, geometry.source_detector_mm);
  for (const Matrix34& matrix : geometry.matrices) {
    const Matrix34 p = options.voxel_index ? in_voxel_indices(matrix, *options.voxel_index) : matrix;
    for (std::size_t i = 0; i < 12; ++i) text += format("{:.17g}{}", p.m[i], i < 11 ? ' ' : '\n');
  }
  return text;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "api/center_keys.h"

#include <cmath>

#include <toml++/toml.h>

#include "geometry/arc.h"

namespace lepus {
namespace {

// Of a tilted detector's rows (docs/geometry.md), as the view sees them: across the beam and along it.
struct RowDirection {
  double across, depth;
};
RowDirection row_direction(double yaw_deg, double pitch_deg, double in_plane_deg) {
  const double y = radians(yaw_deg), p = radians(pitch_deg), i = radians(in_plane_deg);
  return {std::cos(y) * std::cos(i) + std::sin(y) * std::sin(p) * std::sin(i),
          std::cos(y) * std::sin(p) * std::sin(i) - std::sin(y) * std::cos(i)};
}

}  // namespace

NumbersOfKeys center_keys(const Scan& scan, const CenterResult& axis, CenterKey key) {
  const toml::table resolved = toml::parse(scan.resolved);
  const auto geometry = resolved["geometry"];
  const auto number = [&](const char* name) { return geometry[name].value<double>(); };
  const auto width = number("pixel_width_mm");
  if (!width || !number("detector_shift_u_mm")) return {};
  const double middle = 0.5 * static_cast<double>(scan.geometry.columns - 1);
  const bool flat_of_arc = scan.geometry.recorded_on_arc && key == CenterKey::axis_offset;
  const double sign = geometry["mirror_columns"].value_or(false) ? -1 : 1;
  const auto u_mm = [&](double column) {  // from the detector's middle, along the middle row
    if (flat_of_arc) column = ArcMap(scan.geometry).to_flat({column, axis.middle_row}).column;
    return sign * (column - middle) * *width;
  };
  const auto degrees_of = [&](const char* name) { return number(name).value_or(0); };
  const double given_in_plane_deg = degrees_of("in_plane_deg");
  // A yawed and pitched detector sees an upright axis at an angle that is not its own.
  const double in_plane_deg =
      given_in_plane_deg + (axis.tilt_matters() ? axis.in_plane_deg - axis.given_in_plane_deg : 0);
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
  const double u = u_mm(axis.column), shift = shift_for(u_mm(axis.given_column), given);
  NumbersOfKeys keys;
  if (key == CenterKey::detector_shift)
    keys.emplace_back("detector_shift_u_mm", *number("detector_shift_u_mm") + shift_for(u, found) - shift);
  else
    keys.emplace_back("axis_offset_mm", (shift + u * found.across) / (magnification + u * per_mm * found.depth));
  if (axis.tilt_matters()) keys.emplace_back("in_plane_deg", in_plane_deg);
  return keys;
}

}  // namespace lepus

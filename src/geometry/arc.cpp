// SPDX-License-Identifier: Apache-2.0
// Arc detector <-> flat detector. A ray at fan angle gamma meets the arc at length D*gamma and height t, and the
// tangent plane, D/cos(gamma) away instead of D, at s = D tan(gamma) and height t/cos(gamma).
#include "geometry/arc.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Beyond this the tangent plane is so wide (5.7 D at 80 degrees) that a flat detector is the wrong description.
constexpr double largest_fan_angle_rad = radians(80);

double fan_angle_rad(const ArcDetector& arc, double column) {
  return (column - arc.central_column) * arc.pixel_width_mm / arc.radius_mm;
}

}  // namespace

ArcMap::ArcMap(const ScanGeometry& geometry) : cone_(geometry.beam == Beam::cone) {
  if (!geometry.recorded_on_arc)
    throw Error(ErrorKind::internal, {.what = "the scan was not recorded on an arc detector",
                                      .where = "ArcMap",
                                      .why = "recorded_on_arc is empty",
                                      .hint = {}});
  arc_ = *geometry.recorded_on_arc;
  const Camera camera = camera_of(geometry, 0);
  flat_column_ = camera.principal_column;
  // A fan beam has no principal ray across its rows: both detectors share their rows, shifted by whole pixels.
  flat_row_ = cone_ ? camera.principal_row : arc_.central_row;
}

PixelPosition ArcMap::to_flat(PixelPosition recorded) const {
  const double gamma = fan_angle_rad(arc_, recorded.column);
  const double stretch = cone_ ? 1 / std::cos(gamma) : 1;
  return {flat_column_ + std::tan(gamma) * arc_.radius_mm / arc_.pixel_width_mm,
          flat_row_ + (recorded.row - arc_.central_row) * stretch};
}

PixelPosition ArcMap::to_recorded(PixelPosition flat) const {
  const double gamma = std::atan((flat.column - flat_column_) * arc_.pixel_width_mm / arc_.radius_mm);
  const double shrink = cone_ ? std::cos(gamma) : 1;
  return {arc_.central_column + gamma * arc_.radius_mm / arc_.pixel_width_mm,
          arc_.central_row + (flat.row - flat_row_) * shrink};
}

FlatCover cover_arc(const ArcDetector& arc, Beam beam) {
  const double first = fan_angle_rad(arc, 0), last = fan_angle_rad(arc, static_cast<double>(arc.columns - 1));
  const double widest = std::max(std::abs(first), std::abs(last));
  if (!(widest < largest_fan_angle_rad))
    throw Error(ErrorKind::geometry,
                {.what = "the arc detector is too wide",
                 .where = "columns, pixel_width_mm, source_detector_mm",
                 .why = format("its edge is seen {:.1f} degrees from the central ray, 80 is the most that can be "
                               "resampled onto a flat detector",
                               degrees(widest)),
                 .hint = "check the pixel width and the radius of the arc (the source-detector distance)"});
  // Whole pixels are added on each side, so that the central ray keeps its fraction of a pixel. The slack keeps a
  // rounding error from adding one more.
  constexpr double slack = 1e-9;
  const double scale = arc.radius_mm / arc.pixel_width_mm;
  const auto cover = [&](double low, double high, double centre, std::int64_t& size, double& new_centre) {
    const double added = std::ceil(-(centre + low) - slack);
    new_centre = centre + added;
    size = static_cast<std::int64_t>(std::ceil(new_centre + high - slack)) + 1;
  };
  FlatCover flat;
  cover(std::tan(first) * scale, std::tan(last) * scale, arc.central_column, flat.columns, flat.central_column);
  if (beam == Beam::fan) {
    flat.rows = arc.rows;
    flat.central_row = arc.central_row;
    return flat;
  }
  const double nearest = first <= 0 && last >= 0 ? 0 : std::min(std::abs(first), std::abs(last));
  const double least = 1 / std::cos(nearest), most = 1 / std::cos(widest);
  const double top = -arc.central_row, bottom = static_cast<double>(arc.rows - 1) - arc.central_row;
  cover(std::min(top * least, top * most), std::max(bottom * least, bottom * most), arc.central_row, flat.rows,
        flat.central_row);
  return flat;
}

ScanGeometry with_central_column(const ScanGeometry& geometry, double column) {
  ScanGeometry moved = geometry;
  ArcDetector& arc = *moved.recorded_on_arc;
  const FlatCover before = cover_arc(arc, geometry.beam);
  arc.central_column = column;
  const FlatCover after = cover_arc(arc, geometry.beam);
  moved.columns = after.columns;
  moved.rows = after.rows;
  for (Matrix34& p : moved.matrices)
    for (int j = 0; j < 4; ++j) {
      p(0, j) += (after.central_column - before.central_column) * p(2, j);
      // A fan's rows stay: its second row gives v itself, and both covers have the recorded rows.
      if (geometry.beam == Beam::cone) p(1, j) += (after.central_row - before.central_row) * p(2, j);
    }
  return moved;
}

}  // namespace lepus

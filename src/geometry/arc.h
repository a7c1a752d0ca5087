// SPDX-License-Identifier: Apache-2.0
// Between the arc detector that recorded the frames and the flat one that the matrices describe: the plane that touches
// the arc at the central ray, with the same pixel size. Positions in pixels on both; docs/geometry.md draws it.
#pragma once

#include <lepus/geometry.h>

namespace lepus {

struct PixelPosition {
  double column = 0, row = 0;
};

// The map for one scan; `geometry.recorded_on_arc` must be set. Every view has the same one.
class ArcMap {
public:
  explicit ArcMap(const ScanGeometry& geometry);

  // s = D tan(gamma); a cone beam also stretches heights by 1/cos(gamma), a fan beam's rows stay where they are.
  PixelPosition to_flat(PixelPosition recorded) const;
  PixelPosition to_recorded(PixelPosition flat) const;
  double flat_row() const { return flat_row_; }  // of the flat detector that shows the arc's central row

private:
  ArcDetector arc_;
  bool cone_;
  double flat_column_, flat_row_;  // where the central ray meets the flat detector
};

// The flat detector that covers every recorded pixel: its pixels have the recorded size, and the central ray meets it
// the same fraction of a pixel from a pixel centre, so that near it both grids coincide.
struct FlatCover {
  std::int64_t columns = 0, rows = 0;
  double central_column = 0, central_row = 0;
};
FlatCover cover_arc(const ArcDetector& arc, Beam beam);

// The same scan, recorded with the central ray on another column of its arc: the arc turned about the source.
ScanGeometry with_central_column(const ScanGeometry& geometry, double column);

}  // namespace lepus

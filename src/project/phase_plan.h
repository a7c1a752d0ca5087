// SPDX-License-Identifier: Apache-2.0
// Phase retrieval at a single distance (Paganin et al., J. Microsc. 206, 2002) on frames of grey levels: for an object
// of one material, whose phase shift and absorption are both its thickness, the intensity at the object is
//   F^-1 { F{g} / (1 + pi lambda R (delta / beta) |f|^2) },   R = z1 z2 / (z1 + z2) at the object's magnification.
// Frames of any size -> frames of the same size; the log follows in the chain.
#pragma once

#include <cstdint>
#include <vector>

#include "project/phase_filter.h"

namespace lepus {

// What the filter is for one detector: its strength, tiles and twiddles.
struct PhasePlan {
  double a_v = 0, a_u = 0;
  PhaseTiles tiles;
  PhaseFilter filter;
  std::vector<Complex32> row_twiddles, column_twiddles;  // exp(-i pi k / 2n), k = 0 ... n / 2

  PhasePlan(std::int64_t columns, std::int64_t detector_rows, double strength_v, double strength_u);
  RowBand rows_needed(RowBand wanted) const;
  RowBand tiles_of(RowBand wanted) const;  // [first, last) tile
};

// How many rows the filter's response reaches: what an edge between full beam and none that lies further away changes
// is less than 1e-4 of the beam. Along v the response is exp(-|v| / l) / 2l, l = sqrt(a_v) / 2 pi, and the edge's share
// exp(-h / l) / 2. Where l is short, the ripple of the pixel grid remains, which falls as 1 / h^2: never less than 32
// rows.
std::int64_t phase_halo(double a_v);

}  // namespace lepus

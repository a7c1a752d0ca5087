// SPDX-License-Identifier: Apache-2.0
// Small dense beads in frames of line integrals: where each one's middle is seen, view by view, and which of them are
// the same bead. Frames (rows x columns) -> positions in pixels -> tracks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lepus {

struct BeadSpot {
  double column = 0, row = 0;
};

struct BeadFrame {
  std::vector<BeadSpot> spots;   // beads that stand alone
  std::int64_t overlapping = 0;  // blobs too large to be one bead
  std::int64_t leaving = 0;      // blobs that touch the frame's edge
};

// The diameter of the beads in a frame, in pixels: the median of the blobs narrower than a twelfth of the frame. 0:
// none.
double bead_diameter_px(std::span<const float> frame, std::int64_t columns, std::int64_t rows);

// A bead is what an opening with a square 1.6 diameters wide removes; its place is the centroid of that.
BeadFrame find_beads(std::span<const float> frame, std::int64_t columns, std::int64_t rows, double diameter_px);

struct BeadSighting {
  std::int64_t view = 0;
  double column = 0, row = 0;
};
using BeadTrack = std::vector<BeadSighting>;  // of one bead, views ascending

// Spots of neighbouring views are joined where a bead that goes on turning would be seen (its track's last sightings
// give place, speed and acceleration). angles_rad: one per view, in their order. Tracks seen in less than a quarter of
// the views, and spots that do not move at all (bad pixels), are left out.
std::vector<BeadTrack> track_beads(const std::vector<BeadFrame>& frames, const std::vector<double>& angles_rad,
                                   double diameter_px);

}  // namespace lepus

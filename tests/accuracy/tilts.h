// SPDX-License-Identifier: Apache-2.0
// Detectors that are tilted by up to ten degrees, and orbits that lie above the object: the mean of the mid-plane of a
// ball, and of a cylinder that goes on beyond the detector, against the truth. docs/accuracy.md, docs/filters.md.
#pragma once

#include <string>
#include <vector>

#include "core/threads.h"

namespace lepus::accuracy {

struct TiltCase {
  double in_plane_deg = 0, pitch_deg = 0, yaw_deg = 0;  // of the detector
  double raised_deg = 0;  // source and detector together, about the rotation centre (RTK's out-of-plane angle)
  bool full_turn = true;

  std::string name() const;         // "in_plane_3_full": for tests
  std::string geometry() const;     // for readers
  double ball_lost_by_fdk() const;  // a part of its spectrum that an orbit above it does not measure
};

std::vector<TiltCase> tilt_cases();

struct TiltQuality {
  double ball_error = 0, cylinder_error = 0;  // of the mid-plane's mean, three voxels from the edge, relative
};

inline constexpr double tilt_mean_bar = 1e-3;

TiltQuality measure_tilt(const TiltCase& tilt, ThreadPool& threads);

}  // namespace lepus::accuracy

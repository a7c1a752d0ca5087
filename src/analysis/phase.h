// SPDX-License-Identifier: Apache-2.0
// Values -> the phase that is looked at, one bit a voxel. A threshold belongs to the darker side: dark is v <= t.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/histogram.h"

namespace lepus::analysis {

enum class ThresholdKind { fixed, otsu, multi_otsu, local, hysteresis };

struct ThresholdOptions {
  ThresholdKind kind = ThresholdKind::otsu;
  std::vector<double> values;  // fixed: at least one, growing; hysteresis: low and high
  int classes = 3;             // multi_otsu
  std::int64_t radius = 15;    // local: the window has 2 radius + 1 voxels in every direction
  double offset = 0;           // local: the threshold is the window's mean - offset
};

// "otsu", "multi-otsu:3", "0.012", "0.01,0.02", "local:15,0.001", "hysteresis:0.01,0.02". Throws Error(usage).
ThresholdOptions parse_threshold(const std::string& text);

// Which class: the darkest, the brightest, or one between (counted from 0, the darkest).
struct PhaseChoice {
  bool bright = false;
  std::int64_t number = -1;  // >= 0: this class
};
PhaseChoice parse_phase(const std::string& text);  // "dark", "bright", "1"

struct PhaseResult {
  std::vector<double> thresholds;  // none where it is local
  std::int64_t voxels = 0;         // of the phase
};

// Every finite voxel of the phase, also outside the region: air is told from pores by what surrounds them.
PhaseResult find_phase(const VolumeReader& volume, const ThresholdOptions& threshold, const PhaseChoice& choice,
                       const Histogram& histogram, const Survey& looked, BitVolume& phase, WorkMemory& memory,
                       Context& context);

bool is_darkest(const PhaseChoice& choice);  // class 0

// What may be air, whatever the phase that was found: class 0, and every voxel that is not a finite number.
void find_air(const VolumeReader& volume, const ThresholdOptions& threshold, const PhaseChoice& choice,
              const PhaseResult& found, const BitVolume& phase, BitVolume& air, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis

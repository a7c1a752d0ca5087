// SPDX-License-Identifier: Apache-2.0
// method = "auto": tries every method on a few sinograms, and leaves them as they are where none would make the slice
// better.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/threads.h"
#include "project/planes.h"
#include "correct/rings/ring_judge.h"
#include "device/host/band_kernels/rings.h"

namespace lepus {

struct RingTrial {
  RingOptions options;
  rings::RingVerdict verdict;
};

struct RingChoice {
  std::optional<RingOptions> options;  // none: nothing is to be done
  std::string why_none;
  bool refused = false;             // there are rings, but every method that lessens them does too much harm
  std::int64_t broken_columns = 0;  // found before rings were judged, in all sinograms
  std::vector<RingTrial> trials;    // of those that the sinograms are large enough for
};

// What a method may do to values that vary along the views, which rings do not: so much of their rms, or as a mean
// square a tenth of what it wins.
inline constexpr double maximum_disturbed = 0.01, share_of_winnings = 0.1;
inline constexpr int maximum_iterations = 5;

// Of the methods that do little harm (see above), at least halve the ring energy and raise little beside broken
// columns, and win twice what they lose, the one with the best balance; where there is none, nothing.
// parameters.iterations 0: as many as help, up to maximum_iterations. Throws Error(usage) where no method fits.
RingChoice choose_ring_method(const rings::RingSample& sample, const RingOptions& parameters, ThreadPool& threads);

}  // namespace lepus

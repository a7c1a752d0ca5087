// SPDX-License-Identifier: Apache-2.0
// method = "auto": tries every method on a few sinograms and measures what is left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/threads.h"
#include "correct/planes.h"
#include "correct/rings/rings.h"

namespace lepus {

struct RingTrial {
  RingOptions options;
  double left_db = 0;    // ring energy after / before
  double change = 0;     // rms of what it changed / rms of the values
  double disturbed = 0;  // the same of the part that differs from view to view, in columns that are not broken
};

struct RingChoice {
  RingOptions options;
  std::vector<RingTrial> trials;  // of those that the sinograms are large enough for
};

// What a method may do to values that vary along the views, as a share of their rms: rings do not vary.
inline constexpr double most_disturbed = 0.01;

// Of the methods that disturb less than most_disturbed (of all, where none does) those within 1 dB of the least ring
// energy left; of these the one that changes least. Throws Error(usage) where no method fits the sinograms.
RingChoice choose_ring_method(const Planes& sinograms, const RingOptions& parameters, ThreadPool& threads);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Are the frames what the scan file says? Some rows of some views against flats and darks: shares of pixels that no
// good scan has, the level of the open beam, and the marks that a wrong pixel type, byte order or row length leaves.
// What is not plausible becomes a warning with its likely cause. Little reading, whatever the size of the scan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cancel.h"
#include "scan/scan.h"

namespace lepus {

// Of the pixels that were looked at.
struct CountFigures {
  std::int64_t views = 0, pixels = 0;
  double at_dark = 0;     // share at or below the dark; of line integrals: none
  double saturated = 0;   // share at the saturation level
  double above_flat = 0;  // share brighter than the open beam by more than a tenth and its noise
  // The open beam beside the object, as a share of I0: the middle, lowest and highest of the views. None where no view
  // has a part that looks like it.
  struct Air {
    double level = 1, lowest = 1, highest = 1;
  };
  std::optional<Air> air;
  bool constant = false;  // every pixel has the same value: nothing can be reconstructed
  std::vector<std::string> warnings;

  std::string text() const;  // one line for people
  std::string json() const;  // the same for programs, without the warnings
};

CountFigures look_at_counts(const Scan& scan, const CancelFlag& cancel);

}  // namespace lepus

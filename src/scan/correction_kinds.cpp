// SPDX-License-Identifier: Apache-2.0
// The corrections that [[correct]] knows and their parameters; src/preprocess does the work.
#include "scan/keys.h"

namespace lepus {

std::span<const CorrectionKind> correction_kinds() {
  static const std::vector<CorrectionKind> kinds{
      {"dead-pixels",
       "bridges pixels whose flat is not above the dark, or far below the other pixels, between their good neighbours "
       "in "
       "the row.",
       {{"correct",
         "threshold",
         KeyType::number,
         "",
         "0.05",
         "",
         "Share of the median flat below which a pixel is dead.",
         "",
         {.least = 0, .most = 1, .open = true}}}},
  };
  return kinds;
}

}  // namespace lepus

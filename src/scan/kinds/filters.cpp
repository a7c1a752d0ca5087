// SPDX-License-Identifier: Apache-2.0
// The parameters of the correction "filter"; src/correct/filters does the work.
#include "scan/kinds/kinds.h"

namespace lepus {

std::vector<CorrectionKind> filter_kinds() {
  using enum ScanKeyType;
  constexpr ScanKeyRange positive{.minimum = 0, .open = true};
  return {
      {"filter",
       "smooths with a box, a Gaussian, a median or a bilateral filter, along the detector's rows or in two "
       "dimensions.",
       {{"correct", "filter", choice, "", "\"median\"", "", "Which filter.", "box gaussian median bilateral"},
        {"correct", "pictures", choice, "", "\"sinograms\"", "",
         "In two dimensions: each detector row over all views (`sinograms`), or each view (`frames`).",
         "sinograms frames"},
        {"correct",
         "dimensions",
         integer,
         "",
         "1",
         "",
         "1: along the detector's rows. 2: in each picture.",
         "",
         {.minimum = 1, .maximum = 2}},
        {"correct",
         "radius_px",
         integer,
         "px",
         "30",
         "",
         "The mask has 2 radius + 1 pixels in every dimension.",
         "",
         {.minimum = 1, .maximum = 16000}},
        {"correct",
         "sigma_px",
         number,
         "px",
         "10.0",
         "",
         "Width of the Gaussian and the bilateral filter.",
         "",
         {.minimum = 0.01, .maximum = 1e6}},
        {"correct", "sigma_value", number, "", "0.1953125", "",
         "Bilateral: by how much values may differ that are mixed, as a share of `value_range` (50 of 256).", "",
         positive},
        {"correct",
         "value_range",
         number,
         "",
         "0.0",
         "",
         "Bilateral: the range of the values; 0 stands for 1 for grey levels, and for what lies between the outermost "
         "0.5 % of the middle row for line integrals.",
         "",
         {.minimum = 0}},
        {"correct", "border", choice, "", "\"keep\"", "",
         "Beyond the edge: pixels without a full mask stay as they are (`keep`), zeros, a mask that is cut off "
         "(`partial`), the other side (`wrap`), the picture mirrored, or its outermost pixel (`clamp`).",
         "keep zero partial wrap mirror clamp"},
        {"correct", "iterations", integer, "", "1", "", "How often it runs.", "", {.minimum = 1, .maximum = 100}}},
       "grey-levels line-integrals",
       {{"pictures", "dimensions", "2"},
        {"sigma_px", "filter", "gaussian bilateral"},
        {"sigma_value", "filter", "bilateral"},
        {"value_range", "filter", "bilateral"}}}};
}

}  // namespace lepus

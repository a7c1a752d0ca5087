// SPDX-License-Identifier: Apache-2.0
// The parameters of the correction "rings"; src/correct/rings does the work.
#include "scan/kinds/kinds.h"

namespace lepus {

std::vector<CorrectionKind> ring_kinds() {
  using enum KeyType;
  constexpr ValueRange positive{.least = 0, .open = true};
  return {
      {"rings",
       "takes stripes out of sinograms, which become rings in slices.",
       {{"correct", "method", choice, "", "\"trend\"", "",
         "`trend`: what is left of each row after an edge-preserving filter, averaged over the views, is taken away. "
         "`wavelet-fourier`: slow changes along the views are taken out of wavelet details. `sorting`: columns are "
         "sorted over the views and smoothed along the ranks. `combined`: dead, fluctuating and large stripes first, "
         "then sorting. `auto`: tries all on five rows and takes the one that leaves least.",
         "trend wavelet-fourier sorting combined auto"},
        {"correct", "iterations", integer, "", "1", "", "How often it runs.", "", {.least = 1, .most = 100}},
        {"correct", "filter", choice, "", "\"bilateral\"", "", "`trend`: the filter.", "bilateral median"},
        {"correct",
         "radius_px",
         integer,
         "px",
         "",
         "30, or 3 % of a row of less than 1024 columns",
         "`trend`: the mask has 2 radius + 1 pixels.",
         "",
         {.least = 1, .most = 16000}},
        {"correct",
         "sigma_px",
         number,
         "px",
         "",
         "a third of the radius",
         "`trend`: width of the bilateral filter.",
         "",
         {.least = 0.01, .most = 1e6}},
        {"correct", "sigma_value", number, "", "0.1953125", "",
         "`trend`, bilateral: by how much values may differ that are mixed, as a share of `value_range` (50 of 256); "
         "more than a stripe, less than an edge.",
         "", positive},
        {"correct",
         "value_range",
         number,
         "",
         "0.0",
         "",
         "`trend`, bilateral: the range of the values; 0 stands for 1 for grey levels, and for what lies between the "
         "outermost 0.5 % of the middle row for line integrals.",
         "",
         {.least = 0}},
        {"correct",
         "wavelet",
         integer,
         "",
         "8",
         "",
         "`wavelet-fourier`: vanishing moments of Daubechies' wavelet.",
         "",
         {.least = 1, .most = 10}},
        {"correct",
         "levels",
         integer,
         "",
         "",
         "5, or 4 below 1024 columns, 3 below 512, 2 below 256",
         "`wavelet-fourier`: stripes up to about 2^levels pixels wide; 2^levels must not exceed the columns.",
         "",
         {.least = 1, .most = 30}},
        {"correct",
         "damping_sigma",
         number,
         "",
         "2.0",
         "",
         "`wavelet-fourier`: changes slower than this many cycles over all views count as stripes.",
         "",
         {.least = 0.01, .most = 1e6}},
        {"correct",
         "small_px",
         integer,
         "px",
         "",
         "21, or 2 % of a row of less than 1024 columns",
         "`sorting`, `combined`: the median's window along the ranks, an odd number of columns; at least twice as wide "
         "as the stripes.",
         "",
         {.least = 1, .most = 32001}},
        {"correct",
         "large_px",
         integer,
         "px",
         "",
         "61, or 6 % of a row of less than 1024 columns",
         "`combined`: the window that large stripes are found with, an odd number of columns.",
         "",
         {.least = 1, .most = 32001}},
        {"correct", "snr", number, "", "3.0", "",
         "`combined`: how far a column must stand out to be called faulty; less finds more.", "", positive}},
       "line-integrals grey-levels"}};
}

}  // namespace lepus

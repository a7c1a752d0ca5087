// SPDX-License-Identifier: Apache-2.0
// Stripes of sinograms, which become rings in slices: four ways to take them out, and what they can be asked for.
// docs/corrections/rings.md trend: pattern = mean over views of (row - edge-preserving filter of the row).
// wavelet_fourier: Muench, Trtik, Marone and Stampanoni, Optics Express 17 (2009) 8567. sorting, combined: Vo, Atwood
// and Drakopoulos, Optics Express 26 (2018) 28396.
#pragma once

#include <cstdint>
#include <string>

#include "project/filter_options.h"

namespace lepus {

enum class RingMethod { trend, wavelet_fourier, sorting, combined };
std::string name_of(RingMethod method);  // as in the scan file: "wavelet-fourier"

struct RingOptions {
  RingMethod method = RingMethod::trend;
  int iterations = 1;
  // A stripe is a factor (grey levels) and not an addend (line integrals): trend and the search for large stripes then
  // divide; the others are the same.
  bool relative = false;

  // Windows are those of rows of 1024 columns and more; default_windows() has those of narrower ones.
  // trend: median or bilateral, along rows.
  FilterKind filter = FilterKind::bilateral;
  std::int64_t radius = 30;
  double sigma = 10;                           // pixels
  double sigma_value = bilateral_range_share;  // in the unit of the values

  // wavelet_fourier
  int wavelet = 8;           // Daubechies' number of vanishing moments, 1 to 10
  int levels = 5;            // stripes up to about 2^levels pixels wide
  double damping_sigma = 2;  // in cycles per sinogram height: slower changes along the views are taken for stripes

  // sorting and combined; both sizes odd, in columns
  std::int64_t small_size = 21;
  std::int64_t large_size = 61;  // combined
  double snr = 3;                // combined: how far a faulty column stands out
};

// The default windows of all methods for rows of so many columns: those above, and from 1024 columns down the same
// share of the row, but no smaller than stripes of three columns need.
RingOptions default_windows(std::int64_t columns);

// Throws Error(usage) where options and sinograms do not go together.
void check_rings(const RingOptions& options, std::int64_t columns, std::int64_t views);

namespace rings {

// The filters inside the methods. Edges: the mask is cut off (trend), mirrored (along sorted rows).
FilterOptions trend_filter(const RingOptions& options);
FilterOptions sorted_filter(std::int64_t size);

Planes part_of(const Planes& sinograms, std::int64_t first, std::int64_t count);

}  // namespace rings
}  // namespace lepus

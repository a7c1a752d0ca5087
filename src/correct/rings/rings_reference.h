// SPDX-License-Identifier: Apache-2.0
// Ring removal in double precision, and its pieces: a picture in double precision and the wavelet-Fourier filter as it
// was published.
#pragma once

#include <cstdint>
#include <vector>

#include "project/ring_options.h"

namespace lepus::reference {

void remove_rings(const Planes& sinograms, const RingOptions& options);  // in double precision, slow

struct Image {
  std::int64_t width = 0, height = 0;
  std::vector<double> values;

  double& operator()(std::int64_t x, std::int64_t y) { return values[static_cast<std::size_t>(y * width + x)]; }
  double operator()(std::int64_t x, std::int64_t y) const { return values[static_cast<std::size_t>(y * width + x)]; }
};

// Two-dimensional wavelet transform; in each level the detail that is fast along the columns and slow along the views
// is Fourier-transformed along the views, multiplied with 1 - exp(-k^2 / 2 sigma^2), transformed back; wavelet
// transform back.
Image without_slow_details(const Image& image, const RingOptions& options);

}  // namespace lepus::reference

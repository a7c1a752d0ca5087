// SPDX-License-Identifier: Apache-2.0
// The wavelet-Fourier filter as two matrix products. What it takes out of a sinogram S (views x columns) is linear in
// S, and along the views each level keeps only a few slow oscillations: with e = exp(-k^2 / 2 sigma^2) those with e >
// 1e-7. So per level l: modes along the views M_l S (modes x columns), high-pass of level l along the columns, back
// along the columns, back along the views N_l (...). M_l contains the level's low-pass steps along the views and the
// Fourier modes, N_l their way back and e. Exact to rounding, and nothing is done to what stays.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace lepus::rings {

struct WaveletModes {
  std::int64_t views = 0, modes = 0;  // modes of all levels, those of level 1 first
  std::vector<float> there;           // M, modes x views
  std::vector<float> back;            // N, views x modes
  std::vector<std::int64_t> first;    // modes of level l are [first[l - 1], first[l])
  std::vector<std::int64_t> lengths;  // of the lines along columns after l steps; lengths[0] is the number of columns
  std::vector<float> low, high;       // taps
  std::int64_t longest() const;       // of lengths
};

// The last one made is kept: a scan asks for the same one, band after band.
std::shared_ptr<const WaveletModes> wavelet_modes(std::int64_t columns, std::int64_t views, int wavelet, int levels,
                                                  double sigma);

}  // namespace lepus::rings

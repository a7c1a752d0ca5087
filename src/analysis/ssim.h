// SPDX-License-Identifier: Apache-2.0
// The structural similarity index (Wang et al. 2004) with the authors' window: a Gaussian of sigma 1.5 voxels cut at 11
// samples, K1 = 0.01, K2 = 0.03, weighted (not sample) covariances, mean over all windows that lie inside. This is what
// scikit-image computes with gaussian_weights=True, sigma=1.5, use_sample_covariance=False.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lepus {

inline constexpr std::int64_t ssim_radius = 5, ssim_window = 2 * ssim_radius + 1;

std::array<double, ssim_window> ssim_weights();  // sum = 1

// Slices [z_first, z_first + slices) of two volumes in memory, x fastest.
struct SsimBlock {
  const float* a = nullptr;
  const float* b = nullptr;
  std::int64_t nx = 0, ny = 0, z_first = 0;
};

struct SsimTile {
  std::int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0;  // window centres; windows reach ssim_radius beyond them
};
inline constexpr std::int64_t ssim_tile_side = 32;
std::vector<SsimTile> ssim_tiles(std::int64_t nx, std::int64_t ny);  // of all centres whose windows lie inside

// SSIM at the centres of a tile in slice z, row by row into `map` ((y1-y0) * (x1-x0) values). z_radius is ssim_radius
// (3-D windows) or 0 (2-D windows); the block holds slices z - z_radius to z + z_radius.
class SsimKernel {
public:
  SsimKernel(double peak, std::int64_t z_radius);
  void tile(const SsimBlock& block, const SsimTile& tile, std::int64_t z, double* map);

private:
  std::array<double, ssim_window> weights_;
  double c1_, c2_;
  std::int64_t z_radius_;
  std::vector<double> along_z_, along_y_;  // scratch: one kernel per thread
};

}  // namespace lepus

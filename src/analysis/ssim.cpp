// SPDX-License-Identifier: Apache-2.0
#include "analysis/ssim.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lepus {
namespace {

constexpr std::int64_t fields = 5;  // weighted means of a, b, a*a, b*b, a*b
constexpr std::int64_t padded_side = ssim_tile_side + 2 * ssim_radius;

}  // namespace

std::array<double, ssim_window> ssim_weights() {
  constexpr double sigma = 1.5;
  std::array<double, ssim_window> weights{};
  for (std::int64_t i = 0; i < ssim_window; ++i) {
    const double t = static_cast<double>(i - ssim_radius) / sigma;
    weights[static_cast<std::size_t>(i)] = std::exp(-0.5 * t * t);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<SsimTile> ssim_tiles(std::int64_t nx, std::int64_t ny) {
  std::vector<SsimTile> tiles;
  for (std::int64_t y = ssim_radius; y < ny - ssim_radius; y += ssim_tile_side)
    for (std::int64_t x = ssim_radius; x < nx - ssim_radius; x += ssim_tile_side)
      tiles.push_back(
          {x, std::min(x + ssim_tile_side, nx - ssim_radius), y, std::min(y + ssim_tile_side, ny - ssim_radius)});
  return tiles;
}

SsimKernel::SsimKernel(double peak, std::int64_t z_radius)
    : weights_(ssim_weights()),
      c1_(0.01 * peak * 0.01 * peak),
      c2_(0.03 * peak * 0.03 * peak),
      z_radius_(z_radius),
      along_z_(static_cast<std::size_t>(fields * padded_side * padded_side)),
      along_y_(static_cast<std::size_t>(fields * ssim_tile_side * padded_side)) {}

// The window is a product of three Gaussians, so that the means are taken along z, then y, then x, each into a buffer
// that stays in the cache. A tile is 32 x 32 centres: the halo of 5 then costs 1.7 times the work in the first pass.
void SsimKernel::tile(const SsimBlock& block, const SsimTile& tile, std::int64_t z, double* map) {
  const std::int64_t width = tile.x1 - tile.x0, height = tile.y1 - tile.y0;
  const std::int64_t wide = width + 2 * ssim_radius, high = height + 2 * ssim_radius;
  const std::int64_t slice = block.nx * block.ny;

  std::fill(along_z_.begin(), along_z_.end(), 0.0);
  for (std::int64_t dz = -z_radius_; dz <= z_radius_; ++dz) {
    const double weight = z_radius_ == 0 ? 1.0 : weights_[static_cast<std::size_t>(dz + ssim_radius)];
    for (std::int64_t y = 0; y < high; ++y) {
      const std::int64_t start =
          (z + dz - block.z_first) * slice + (tile.y0 - ssim_radius + y) * block.nx + tile.x0 - ssim_radius;
      const float* a = block.a + start;
      const float* b = block.b + start;
      double* out = along_z_.data() + y * fields * padded_side;
      for (std::int64_t x = 0; x < wide; ++x) {
        const double va = a[x], vb = b[x];
        out[x] += weight * va;
        out[padded_side + x] += weight * vb;
        out[2 * padded_side + x] += weight * (va * va);
        out[3 * padded_side + x] += weight * (vb * vb);
        out[4 * padded_side + x] += weight * (va * vb);
      }
    }
  }

  for (std::int64_t y = 0; y < height; ++y) {
    double* out = along_y_.data() + y * fields * padded_side;
    std::fill(out, out + fields * padded_side, 0.0);
    for (std::int64_t t = 0; t < ssim_window; ++t) {
      const double weight = weights_[static_cast<std::size_t>(t)];
      const double* in = along_z_.data() + (y + t) * fields * padded_side;
      for (std::int64_t i = 0; i < fields * padded_side; ++i) out[i] += weight * in[i];
    }
  }

  for (std::int64_t y = 0; y < height; ++y) {
    const double* in = along_y_.data() + y * fields * padded_side;
    for (std::int64_t x = 0; x < width; ++x) {
      std::array<double, fields> mean{};
      for (std::int64_t f = 0; f < fields; ++f)
        for (std::int64_t t = 0; t < ssim_window; ++t)
          mean[static_cast<std::size_t>(f)] += weights_[static_cast<std::size_t>(t)] * in[f * padded_side + x + t];
      const auto [ma, mb, maa, mbb, mab] = mean;
      const double variance_a = maa - ma * ma, variance_b = mbb - mb * mb, covariance = mab - ma * mb;
      map[y * width + x] = ((2 * ma * mb + c1_) * (2 * covariance + c2_)) /
                           ((ma * ma + mb * mb + c1_) * (variance_a + variance_b + c2_));
    }
  }
}

}  // namespace lepus

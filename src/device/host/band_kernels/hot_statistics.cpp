// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/hot_statistics.h"

#include <algorithm>

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/band_kernels/hot_statistics.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::pixels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "device/host/band_kernels/along_row-inl.h"

// Adds the squares of a view to the columns [first, last) that have both windows.
void add_squares(const NoiseWeights& weights, const float* w, std::int64_t first, std::int64_t last, float* left,
                 float* middle, float* right) {
  HWY_NAMESPACE::along_row(first, last, [&](auto tag, std::int64_t x) {
    const auto centre = hn::LoadU(tag, w + x);
    auto n_left = hn::Zero(tag), n_middle = hn::Zero(tag), n_right = hn::Zero(tag);
    for (int i = 0; i < weights.window; ++i) {
      const std::int64_t k = weights.gap + i;
      const auto from_left = hn::Sub(centre, hn::LoadU(tag, w + x - k));
      const auto from_right = hn::Sub(centre, hn::LoadU(tag, w + x + k));
      const auto one = hn::Set(tag, weights.one[i]);
      n_left = hn::Add(n_left, hn::Mul(one, from_left));
      n_right = hn::Add(n_right, hn::Mul(one, from_right));
      n_middle = hn::Add(n_middle, hn::Mul(hn::Set(tag, weights.two[i]), hn::Add(from_left, from_right)));
    }
    hn::StoreU(hn::Add(hn::LoadU(tag, left + x), hn::Mul(n_left, n_left)), tag, left + x);
    hn::StoreU(hn::Add(hn::LoadU(tag, middle + x), hn::Mul(n_middle, n_middle)), tag, middle + x);
    hn::StoreU(hn::Add(hn::LoadU(tag, right + x), hn::Mul(n_right, n_right)), tag, right + x);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::pixels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::pixels {
namespace {

HWY_EXPORT(add_squares);

// Columns near an end of the row, which have one window only: side -1 left, +1 right.
void add_one_sided(const NoiseWeights& weights, const float* w, std::int64_t first, std::int64_t last, int side,
                   float* sum) {
  for (std::int64_t x = first; x < last; ++x) {
    const auto n = side_noise<float>(weights, w, x, side);
    sum[x] += n * n;
  }
}

}  // namespace

void HotScratch::resize(std::int64_t columns) {
  const auto count = static_cast<std::size_t>(columns);
  for (int i = 0; i < 3; ++i) {
    block[i].resize(count);
    total[i].resize(count);
    deviation[i].resize(count);
  }
  hot.resize(count);
  ever.resize(count);
}

void hot_statistics(const HotRules& rules, const Planes& sinograms, std::int64_t plane, std::int64_t first,
                    std::int64_t last, HotScratch& scratch) {
  const std::int64_t columns = sinograms.width, views = sinograms.height, reach = rules.reach();
  const std::int64_t both0 = std::clamp(reach, first, last), both1 = std::clamp(columns - reach, both0, last);
  for (auto& total : scratch.total) std::fill(total.begin() + first, total.begin() + last, 0.0);
  for (std::int64_t view0 = 0; view0 < views; view0 += views_per_sum) {
    for (auto& block : scratch.block) std::fill(block.begin() + first, block.begin() + last, 0.0F);
    float *left = scratch.block[0].data(), *middle = scratch.block[1].data(), *right = scratch.block[2].data();
    for (std::int64_t view = view0; view < std::min(views, view0 + views_per_sum); ++view) {
      const float* w = sinograms.row(plane, view);
      HWY_DYNAMIC_DISPATCH(add_squares)(rules.weights, w, both0, both1, left, middle, right);
      if (rules.classic) continue;
      add_one_sided(rules.weights, w, first, std::min({last, reach, columns - reach}), 1, right);
      add_one_sided(rules.weights, w, std::max({first, reach, columns - reach}), last, -1, left);
    }
    for (int i = 0; i < 3; ++i)
      for (std::int64_t x = first; x < last; ++x)
        scratch.total[i][static_cast<std::size_t>(x)] += scratch.block[i][static_cast<std::size_t>(x)];
  }
  for (int i = 0; i < 3; ++i)
    for (std::int64_t x = first; x < last; ++x) {
      const auto at = static_cast<std::size_t>(x);
      const double scale = i == 1 ? rules.weights.two_scale : rules.weights.one_scale;
      scratch.deviation[i][at] = deviation_of(scratch.total[i][at], views, scale);
    }
}

}  // namespace lepus::pixels
#endif

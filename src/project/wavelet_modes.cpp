// SPDX-License-Identifier: Apache-2.0
#include "project/wavelet_modes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <tuple>
#include <utility>

#include "project/wavelet.h"
#include <lepus/math.h>

namespace lepus::rings {
namespace {

constexpr double smallest_damping = 1e-7;  // below the rounding of the values that it would change

struct Mode {
  std::vector<double> wave;  // of norm 1
  double damping = 0;
};

// The real Fourier modes of a line of n numbers that the filter takes out: k = 0, then cosine and sine of each k.
std::vector<Mode> slow_modes(std::int64_t n, double sigma) {
  std::vector<Mode> modes;
  for (std::int64_t k = 0; 2 * k <= n; ++k) {
    const double damping = std::exp(-static_cast<double>(k) * static_cast<double>(k) / (2 * sigma * sigma));
    if (damping < smallest_damping) break;
    const bool alone = k == 0 || 2 * k == n;  // there is no sine
    const double norm = std::sqrt((alone ? 1.0 : 2.0) / static_cast<double>(n));
    for (int sine = 0; sine < (alone ? 1 : 2); ++sine) {
      Mode mode{std::vector<double>(static_cast<std::size_t>(n)), damping};
      for (std::int64_t y = 0; y < n; ++y) {
        const double phase = 2 * pi * static_cast<double>(k * y % n) / static_cast<double>(n);
        mode.wave[static_cast<std::size_t>(y)] = norm * (sine ? std::sin(phase) : std::cos(phase));
      }
      modes.push_back(std::move(mode));
    }
  }
  return modes;
}

}  // namespace

std::int64_t WaveletModes::longest() const { return *std::max_element(lengths.begin(), lengths.end()); }

namespace {

WaveletModes make_modes(std::int64_t columns, std::int64_t views, int wavelet, int levels, double sigma) {
  WaveletModes result;
  result.views = views;
  const auto low = daubechies(wavelet);
  const std::vector<double> high = high_pass(low);
  result.low.assign(low.begin(), low.end());
  result.high.assign(high.begin(), high.end());
  const auto taps = static_cast<std::int64_t>(low.size());

  result.lengths = {columns};
  result.first = {0};
  std::vector<std::int64_t> heights{views};  // of the levels
  std::vector<std::vector<double>> there, back;
  for (int level = 1; level <= levels; ++level) {
    result.lengths.push_back(coefficients_of(result.lengths.back(), taps));
    heights.push_back(coefficients_of(heights.back(), taps));
    for (Mode& mode : slow_modes(heights.back(), sigma)) {
      std::vector<double> down = mode.wave, up = mode.wave;
      for (int l = level; l >= 1; --l) {
        const std::int64_t n = heights[static_cast<std::size_t>(l - 1)];
        down = analyse_transposed(down, low, n);
        up = synthesise(up, low, n);
      }
      for (double& u : up) u *= mode.damping;
      there.push_back(std::move(down));
      back.push_back(std::move(up));
    }
    result.first.push_back(static_cast<std::int64_t>(there.size()));
  }
  result.modes = result.first.back();
  result.there.reserve(there.size() * static_cast<std::size_t>(views));
  for (const auto& line : there) result.there.insert(result.there.end(), line.begin(), line.end());
  result.back.resize(back.size() * static_cast<std::size_t>(views));
  for (std::size_t m = 0; m < back.size(); ++m)
    for (std::size_t y = 0; y < back[m].size(); ++y) result.back[y * back.size() + m] = static_cast<float>(back[m][y]);
  return result;
}

}  // namespace

std::shared_ptr<const WaveletModes> wavelet_modes(std::int64_t columns, std::int64_t views, int wavelet, int levels,
                                                  double sigma) {
  using Key = std::tuple<std::int64_t, std::int64_t, int, int, double>;
  static std::mutex mutex;
  static Key kept_key;
  static std::shared_ptr<const WaveletModes> kept;
  const Key key{columns, views, wavelet, levels, sigma};
  const std::lock_guard lock(mutex);
  if (!kept || key != kept_key) {
    kept = std::make_shared<const WaveletModes>(make_modes(columns, views, wavelet, levels, sigma));
    kept_key = key;
  }
  return kept;
}

}  // namespace lepus::rings

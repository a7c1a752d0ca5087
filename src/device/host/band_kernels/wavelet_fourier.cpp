// SPDX-License-Identifier: Apache-2.0
// The wavelet-Fourier filter on the CPU: wavelet_modes.h explains the two products. Between them the modes of one
// column lie side by side, so that the wavelet steps along columns are sums of such lines.
#include <algorithm>

#include "core/memory.h"
#include "device/host/band_kernels/matmul.h"
#include "device/host/band_kernels/ring_methods.h"
#include "project/wavelet.h"
#include "project/wavelet_modes.h"

namespace lepus::rings {
namespace {

// lines[column][mode]: element c of step `level` from the lines of the step before; modes of this level get the
// high-pass, those of higher levels the low-pass.
void analyse_columns(const WaveletModes& w, int level, const float* from, float* to) {
  const auto l = static_cast<std::size_t>(level);
  const std::int64_t n = w.lengths[l - 1], own = w.first[l - 1], higher = w.first[l];
  const auto taps = static_cast<std::int64_t>(w.low.size());
  for (std::int64_t i = 0; i < w.lengths[l]; ++i) {
    float* out = to + i * w.modes;
    std::fill(out + own, out + w.modes, 0.0F);
    for (std::int64_t j = 0; j < taps; ++j) {
      const float* in = from + mirrored_index(2 * i + 1 - j, n) * w.modes;
      add_scaled(w.high[static_cast<std::size_t>(j)], in + own, out + own, higher - own);
      add_scaled(w.low[static_cast<std::size_t>(j)], in + higher, out + higher, w.modes - higher);
    }
  }
}

void synthesise_columns(const WaveletModes& w, int level, const float* from, float* to) {
  const auto l = static_cast<std::size_t>(level);
  const std::int64_t own = w.first[l - 1], higher = w.first[l], taps = static_cast<std::int64_t>(w.low.size());
  for (std::int64_t i = 0; i < w.lengths[l - 1]; ++i) {
    float* out = to + i * w.modes;
    std::fill(out + own, out + w.modes, 0.0F);
    for (std::int64_t k = i / 2; 2 * k + 1 - i < taps && k < w.lengths[l]; ++k) {
      const auto j = static_cast<std::size_t>(2 * k + 1 - i);
      const float* in = from + k * w.modes;
      add_scaled(w.high[j], in + own, out + own, higher - own);
      add_scaled(w.low[j], in + higher, out + higher, w.modes - higher);
    }
  }
}

std::int64_t scratch_floats(const WaveletModes& w) { return 2 * w.longest() * w.modes + w.modes * w.lengths[0]; }

void one_sinogram(const WaveletModes& w, const Planes& sinograms, std::int64_t plane, float* scratch) {
  const std::int64_t columns = sinograms.width;
  float* lines[2] = {scratch, scratch + w.longest() * w.modes};
  float* turned = scratch + 2 * w.longest() * w.modes;
  float* sinogram = sinograms.row(plane, 0);
  multiply(
      {w.there.data(), w.views, 1, sinogram, sinograms.row_stride, turned, columns, w.modes, w.views, columns, false});
  for (std::int64_t m = 0; m < w.modes; ++m)
    for (std::int64_t x = 0; x < columns; ++x) lines[0][x * w.modes + m] = turned[m * columns + x];
  const int levels = static_cast<int>(w.first.size()) - 1;
  for (int level = 1; level <= levels; ++level) analyse_columns(w, level, lines[(level + 1) % 2], lines[level % 2]);
  for (int level = levels; level >= 1; --level) synthesise_columns(w, level, lines[level % 2], lines[(level + 1) % 2]);
  for (std::int64_t x = 0; x < columns; ++x)
    for (std::int64_t m = 0; m < w.modes; ++m) turned[m * columns + x] = lines[0][x * w.modes + m];
  multiply(
      {w.back.data(), w.modes, 1, turned, columns, sinogram, sinograms.row_stride, w.views, w.modes, columns, true});
}

std::shared_ptr<const WaveletModes> modes_for(const Planes& sinograms, const RingOptions& options) {
  return wavelet_modes(sinograms.width, sinograms.height, options.wavelet, options.levels, options.damping_sigma);
}

}  // namespace

void remove_by_wavelets(const Planes& sinograms, const RingOptions& options, ThreadPool& threads) {
  const auto kept = modes_for(sinograms, options);
  const WaveletModes& modes = *kept;
  const std::int64_t each = (scratch_floats(modes) + 15) / 16 * 16;
  Buffer<float> scratch(each * threads.size());
  threads.parallel_for(0, sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t plane = begin; plane < end; ++plane)
      for (int i = 0; i < options.iterations; ++i)
        one_sinogram(modes, sinograms, plane, scratch.data() + worker * each);
  });
}

std::int64_t wavelets_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads) {
  const auto kept = modes_for(sinograms, options);
  const WaveletModes& modes = *kept;
  return (scratch_floats(modes) * threads + 2 * modes.modes * modes.views) * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace lepus::rings

// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/rings.h"

#include <algorithm>

#include "device/host/band_kernels/ring_methods.h"

namespace lepus {

std::int64_t rings::group_of(const Planes& sinograms) {
  constexpr std::int64_t floats = std::int64_t{1} << 20;  // 4 MiB of each picture that a method holds
  return std::clamp<std::int64_t>(floats / (sinograms.width * sinograms.height), 1,
                                  std::max<std::int64_t>(sinograms.count, 1));
}

void remove_rings(const Planes& sinograms, const RingOptions& options, ThreadPool& threads) {
  check_rings(options, sinograms.width, sinograms.height);
  switch (options.method) {
    case RingMethod::trend:
      return rings::remove_by_trend(sinograms, options, threads);
    case RingMethod::wavelet_fourier:
      return rings::remove_by_wavelets(sinograms, options, threads);
    case RingMethod::sorting:
    case RingMethod::combined:
      return rings::remove_by_sorting(sinograms, options, threads);
  }
}

std::int64_t rings_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads) {
  switch (options.method) {
    case RingMethod::trend:
      return rings::trend_scratch_bytes(sinograms, options, threads);
    case RingMethod::wavelet_fourier:
      return rings::wavelets_scratch_bytes(sinograms, options, threads);
    case RingMethod::sorting:
    case RingMethod::combined:
      return rings::sorting_scratch_bytes(sinograms, options, threads);
  }
  return 0;
}

}  // namespace lepus

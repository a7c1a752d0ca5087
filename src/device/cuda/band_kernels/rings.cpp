// SPDX-License-Identifier: Apache-2.0
// The methods on the device, some sinograms at a time so that what a method holds beside them stays small.
#include "device/cuda/band_kernels/rings.h"

#include <algorithm>

#include "device/cuda/band_kernels/filter.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/band_kernels/ring_kernels.h"
#include "project/wavelet_modes.h"

namespace lepus::cuda {
namespace {

constexpr std::int64_t floats_at_once = std::int64_t{1} << 27;  // 512 MiB of each picture

std::int64_t planes_at_once(const Planes& sinograms, std::int64_t floats_each) {
  return std::clamp<std::int64_t>(floats_at_once / std::max<std::int64_t>(floats_each, 1), 1,
                                  std::max<std::int64_t>(sinograms.count, 1));
}

Planes packed(Queue& queue, const Planes& like, std::int64_t height, std::int64_t width) {
  return {queue.scratch<float>(like.count * height * width), width, height, width, like.count, height * width};
}

template <class T>
T* uploaded(Queue& queue, const std::vector<T>& values) {
  T* device = queue.scratch<T>(static_cast<std::int64_t>(values.size()));
  check(cudaMemcpyAsync(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream_of(queue)),
        "copy tables of the ring removal");
  return device;
}

void by_trend(const Planes& sinograms, const RingOptions& options, Queue& queue) {
  const FilterOptions trend = rings::trend_filter(options);
  const filters::Pass pass = filters::passes_of(trend, uncut(sinograms)).front();
  const std::int64_t group = planes_at_once(sinograms, sinograms.width * sinograms.height);
  const cudaStream_t stream = stream_of(queue);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    const ScratchScope scope(queue);
    const Planes part = rings::part_of(sinograms, first, group);
    rings::StripeSums sums;
    sums.width = part.width;
    sums.parts = (part.height + rings::views_per_part - 1) / rings::views_per_part;
    sums.rest = queue.scratch<double>(part.count * sums.parts * sums.width);
    sums.pattern = queue.scratch<float>(part.count * sums.width);
    if (options.relative) sums.own = queue.scratch<double>(part.count * sums.parts * sums.width);
    for (int i = 0; i < options.iterations; ++i) {
      if (trend.kind != FilterKind::bilateral || !rings::launch_sum_bilateral(part, pass, sums, stream)) {
        const ScratchScope filtering(queue);
        const Planes smooth = packed(queue, part, part.height, part.width);
        filter(part, smooth, trend, uncut(part), queue);
        rings::launch_sum_difference(part, smooth, sums, stream);
      }
      rings::launch_take_pattern(part, sums, stream);
    }
  }
}

void by_wavelets(const Planes& sinograms, const RingOptions& options, Queue& queue) {
  const auto kept =
      rings::wavelet_modes(sinograms.width, sinograms.height, options.wavelet, options.levels, options.damping_sigma);
  const rings::WaveletModes& w = *kept;
  const ScratchScope tables(queue);
  const float* there = uploaded(queue, w.there);
  const float* back = uploaded(queue, w.back);
  const float* low = uploaded(queue, w.low);
  const float* high = uploaded(queue, w.high);
  const std::int64_t longest = w.longest(), group = planes_at_once(sinograms, w.modes * longest);
  const int levels = static_cast<int>(w.first.size()) - 1;
  const cudaStream_t stream = stream_of(queue);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    const ScratchScope scope(queue);
    const Planes part = rings::part_of(sinograms, first, group);
    const Planes lines[2] = {packed(queue, part, w.modes, longest), packed(queue, part, w.modes, longest)};
    const auto step = [&](int level, int from) {
      const auto l = static_cast<std::size_t>(level);
      return rings::WaveletStep{.from = lines[from].data,
                                .to = lines[1 - from].data,
                                .low = low,
                                .high = high,
                                .taps = static_cast<int>(w.low.size()),
                                .n = w.lengths[l - 1],
                                .half = w.lengths[l],
                                .stride = longest,
                                .modes = w.modes,
                                .own = w.first[l - 1],
                                .higher = w.first[l],
                                .planes = part.count};
    };
    for (int i = 0; i < options.iterations; ++i) {
      rings::launch_product({there, part, lines[0], w.modes, w.views, part.width, false}, stream);
      for (int level = 1; level <= levels; ++level) rings::launch_analyse(step(level, (level + 1) % 2), stream);
      for (int level = levels; level >= 1; --level) rings::launch_synthesise(step(level, level % 2), stream);
      rings::launch_product({back, lines[0], part, w.views, w.modes, part.width, true}, stream);
    }
  }
}

void by_sorting(const Planes& sinograms, const RingOptions& options, Queue& queue) {
  const std::int64_t width = sinograms.width, size = width * sinograms.height;
  const std::int64_t group = planes_at_once(sinograms, size);
  const bool combined = options.method == RingMethod::combined;
  const cudaStream_t stream = stream_of(queue);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    const ScratchScope scope(queue);
    const Planes part = rings::part_of(sinograms, first, group);
    const Planes sorted = packed(queue, part, part.height, width);
    const Planes smooth = packed(queue, part, part.height, width);
    auto* views = queue.scratch<std::uint32_t>(part.count * size);
    auto* keys = queue.scratch<std::uint64_t>(std::max<std::int64_t>(rings::sort_keys_needed(part), 1));
    const std::int64_t columns = combined ? part.count * width : 1;
    auto* list = queue.scratch<double>(columns);
    auto* flutter = queue.scratch<double>(columns);
    auto* ascending = queue.scratch<double>(combined ? part.count * rings::ascending_size(width) : 1);
    auto* mask = queue.scratch<unsigned char>(columns);
    const auto mark = [&] {
      rings::launch_mark(list, ascending, width, part.count, options.snr, options.large_size / 2, mask, stream);
    };
    for (int i = 0; i < options.iterations; ++i) {
      if (combined && part.height >= 3) {
        rings::launch_flutter(part, flutter, keys, stream);
        rings::launch_flutter_contrast(flutter, ascending, list, width, part.count, options.large_size / 2, stream);
        mark();
        rings::launch_bridge(part, mask, stream);
      }
      rings::launch_sort_columns(part, sorted, views, keys, stream);
      if (combined) {
        filter(sorted, smooth, rings::sorted_filter(options.large_size), uncut(sorted), queue);
        rings::launch_offsets(sorted, smooth, options.relative, list, stream);
        mark();
        rings::launch_replace(sorted, smooth, mask, stream);
      }
      filter(sorted, smooth, rings::sorted_filter(options.small_size), uncut(sorted), queue);
      rings::launch_put_back(part, smooth, views, stream);
    }
  }
}

}  // namespace

void remove_rings(const Planes& sinograms, const RingOptions& options, Queue& queue) {
  check_rings(options, sinograms.width, sinograms.height);
  switch (options.method) {
    case RingMethod::trend:
      return by_trend(sinograms, options, queue);
    case RingMethod::wavelet_fourier:
      return by_wavelets(sinograms, options, queue);
    case RingMethod::sorting:
    case RingMethod::combined:
      return by_sorting(sinograms, options, queue);
  }
}

}  // namespace lepus::cuda

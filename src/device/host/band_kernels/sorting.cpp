// SPDX-License-Identifier: Apache-2.0
// Sorting-based removal on the CPU, and its companions for dead, fluctuating and large stripes (combined):
// sinogram -> columns sorted over the views and where each value came from -> smoothed along the rows of equal rank ->
// back to their views.
#include <algorithm>
#include <bit>
#include <vector>

#include "core/memory.h"
#include "device/host/band_kernels/filter.h"
#include "device/host/band_kernels/ring_methods.h"
#include "project/sorted_keys.h"
#include "project/stripe_columns.h"

namespace lepus::rings {
namespace {

constexpr std::int64_t sorted_together = 16;  // columns that are sorted together: a cache line of every view

struct Group {
  Planes sinograms, sorted, smooth;
  std::uint32_t* views = nullptr;  // of the sorted values, [plane][rank][column]
  unsigned char* masks = nullptr;  // [plane][column]

  std::uint32_t* views_of(std::int64_t plane, std::int64_t rank) const {
    return views + (plane * sinograms.height + rank) * sinograms.width;
  }
};

void for_strips(const Planes& sinograms, ThreadPool& threads, const auto& body) {
  const std::int64_t strips = (sinograms.width + sorted_together - 1) / sorted_together;
  threads.parallel_for(0, sinograms.count * strips, 4, [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<std::uint64_t> keys(static_cast<std::size_t>(sorted_together * sinograms.height));
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t first = piece % strips * sorted_together;
      body(piece / strips, first, std::min(sorted_together, sinograms.width - first), keys.data());
    }
  });
}

void sort_columns(const Group& g, ThreadPool& threads) {
  for_strips(g.sinograms, threads, [&](std::int64_t plane, std::int64_t first, std::int64_t n, std::uint64_t* keys) {
    const std::int64_t height = g.sinograms.height;
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < n; ++x)
        keys[x * height + y] = sort_key(std::bit_cast<std::uint32_t>(g.sinograms.row(plane, y)[first + x] + 0.0F),
                                        static_cast<std::uint32_t>(y));
    for (std::int64_t x = 0; x < n; ++x) std::sort(keys + x * height, keys + (x + 1) * height);
    for (std::int64_t rank = 0; rank < height; ++rank)
      for (std::int64_t x = 0; x < n; ++x) {
        const std::uint64_t key = keys[x * height + rank];
        g.sorted.row(plane, rank)[first + x] = std::bit_cast<float>(value_bits(key));
        g.views_of(plane, rank)[first + x] = view_of(key);
      }
  });
}

void put_back(const Group& g, ThreadPool& threads) {
  for_strips(g.sinograms, threads, [&](std::int64_t plane, std::int64_t first, std::int64_t n, std::uint64_t*) {
    for (std::int64_t rank = 0; rank < g.sinograms.height; ++rank)
      for (std::int64_t x = first; x < first + n; ++x)
        g.sinograms.row(plane, g.views_of(plane, rank)[x])[x] = g.smooth.row(plane, rank)[x];
  });
}

// The same as local_median, by selection.
double median_around(const std::vector<double>& list, std::int64_t x, std::int64_t radius,
                     std::vector<double>& window) {
  window.clear();
  for (std::int64_t k = x - radius; k <= x + radius; ++k)
    window.push_back(list[static_cast<std::size_t>(mirror_inside(k, static_cast<std::int64_t>(list.size())))]);
  std::nth_element(window.begin(), window.begin() + radius, window.end());
  return window[static_cast<std::size_t>(radius)];
}

// Columns whose sorted values lie off their neighbours' take the smooth ones.
void mend_large(const Group& g, const RingOptions& options, ThreadPool& threads) {
  const std::int64_t width = g.sinograms.width, height = g.sinograms.height, left_out = height / 20;
  threads.parallel_for(0, g.sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<double> offset(static_cast<std::size_t>(width)), sums(offset), smooth_sums(offset);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      std::fill(sums.begin(), sums.end(), 0.0);
      std::fill(smooth_sums.begin(), smooth_sums.end(), 0.0);
      for (std::int64_t rank = left_out; rank < height - left_out; ++rank)
        for (std::int64_t x = 0; x < width; ++x) {
          sums[static_cast<std::size_t>(x)] += static_cast<double>(g.sorted.row(plane, rank)[x]);
          smooth_sums[static_cast<std::size_t>(x)] += static_cast<double>(g.smooth.row(plane, rank)[x]);
        }
      for (std::size_t x = 0; x < offset.size(); ++x)
        offset[x] = stripe_offset(sums[x], smooth_sums[x], height - 2 * left_out, options.relative);
      std::vector<double> ascending = offset;
      std::sort(ascending.begin(), ascending.end());
      unsigned char* mask = g.masks + plane * width;
      mark_columns(offset.data(), ascending.data(), width, options.snr, options.large_size / 2, mask);
      for (std::int64_t rank = 0; rank < height; ++rank)
        for (std::int64_t x = 0; x < width; ++x)
          if (mask[x]) g.sorted.row(plane, rank)[x] = g.smooth.row(plane, rank)[x];
    }
  });
}

}  // namespace

void find_broken_columns(const Planes& sinograms, const RingOptions& options, unsigned char* masks,
                         ThreadPool& threads) {
  const std::int64_t width = sinograms.width, height = sinograms.height;
  std::fill_n(masks, sinograms.count * width, static_cast<unsigned char>(0));
  if (height < 3) return;
  std::vector<double> flutter(static_cast<std::size_t>(sinograms.count * width));
  for_strips(sinograms, threads, [&](std::int64_t plane, std::int64_t first, std::int64_t n, std::uint64_t* keys) {
    // None is negative, and such floats have the order of their bits.
    std::vector<std::uint32_t> bends(static_cast<std::size_t>(height - 2));
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < n; ++x)
        keys[x * height + y] = std::bit_cast<std::uint32_t>(sinograms.row(plane, y)[first + x]);
    for (std::int64_t x = 0; x < n; ++x) {
      const auto value = [&](std::int64_t y) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(keys[x * height + y]));
      };
      for (std::int64_t y = 0; y < height - 2; ++y)
        bends[static_cast<std::size_t>(y)] = std::bit_cast<std::uint32_t>(bend(value(y), value(y + 1), value(y + 2)));
      const auto middle = bends.begin() + (height - 3) / 2;
      std::nth_element(bends.begin(), middle, bends.end());
      flutter[static_cast<std::size_t>(plane * width + first + x)] =
          finite_or_zero(static_cast<double>(std::bit_cast<float>(*middle)));
    }
  });
  threads.parallel_for(0, sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<double> own(static_cast<std::size_t>(width)), around(own), contrast(own), ascending(own), window;
    for (std::int64_t plane = begin; plane < end; ++plane) {
      std::copy_n(flutter.data() + plane * width, width, own.data());
      double mean = 0;
      // Whoever only looks for broken columns has not asked whether the window fits.
      const std::int64_t radius = std::min<std::int64_t>(options.large_size / 2, width - 1);
      for (std::size_t x = 0; x < own.size(); ++x) {
        around[x] = median_around(own, static_cast<std::int64_t>(x), radius, window);
        mean += around[x];
      }
      const double floor = 0.1 * mean / static_cast<double>(width);
      for (std::size_t x = 0; x < own.size(); ++x)
        contrast[x] = flutter_contrast(own.data(), width, static_cast<std::int64_t>(x), around[x], floor);
      ascending = contrast;
      std::sort(ascending.begin(), ascending.end());
      mark_columns(contrast.data(), ascending.data(), width, options.snr, options.large_size / 2,
                   masks + plane * width);
    }
  });
}

void bridge_columns(const Planes& sinograms, const unsigned char* masks, ThreadPool& threads) {
  const std::int64_t n = sinograms.width;
  threads.parallel_for(0, sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const unsigned char* mask = masks + plane * n;
      for (std::int64_t x = 0, left = -1; x < n; ++x) {
        if (!mask[x]) {
          left = x;
          continue;
        }
        std::int64_t right = x;
        while (right < n && mask[right]) ++right;
        for (std::int64_t y = 0; y < sinograms.height; ++y) {
          float* row = sinograms.row(plane, y);
          row[x] = bridged(row, left, x, right, n);
        }
      }
    }
  });
}

void remove_by_sorting(const Planes& sinograms, const RingOptions& options, ThreadPool& threads) {
  const std::int64_t group = group_of(sinograms), width = sinograms.width, size = width * sinograms.height;
  Buffer<float> sorted(group * size), smooth(group * size);
  Buffer<std::uint32_t> views(group * size);
  Buffer<unsigned char> masks(group * width);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    Group g{part_of(sinograms, first, group), {}, {}, views.data(), masks.data()};
    g.sorted = {sorted.data(), width, sinograms.height, width, g.sinograms.count, size};
    g.smooth = g.sorted;
    g.smooth.data = smooth.data();
    for (int i = 0; i < options.iterations; ++i) {
      if (options.method == RingMethod::combined) {
        find_broken_columns(g.sinograms, options, g.masks, threads);
        bridge_columns(g.sinograms, g.masks, threads);
      }
      sort_columns(g, threads);
      if (options.method == RingMethod::combined) {
        filter(g.sorted, g.smooth, sorted_filter(options.large_size), threads);
        mend_large(g, options, threads);
      }
      filter(g.sorted, g.smooth, sorted_filter(options.small_size), threads);
      put_back(g, threads);
    }
  }
}

std::int64_t sorting_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads) {
  const Planes part = part_of(sinograms, 0, group_of(sinograms));
  const std::int64_t size = part.count * part.width * part.height;
  return size * static_cast<std::int64_t>(2 * sizeof(float) + sizeof(std::uint32_t)) +
         part.count * part.width * static_cast<std::int64_t>(1 + sizeof(double)) +
         threads * (sorted_together * part.height + 5 * part.width) * static_cast<std::int64_t>(sizeof(double)) +
         filter_scratch_bytes(part, sorted_filter(std::max(options.large_size, options.small_size)), threads);
}

}  // namespace lepus::rings

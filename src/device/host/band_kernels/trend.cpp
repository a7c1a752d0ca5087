// SPDX-License-Identifier: Apache-2.0
// The trend method on the CPU: what the filter takes away from each row, averaged over the views, is taken away.
#include <algorithm>
#include <vector>

#include "core/memory.h"
#include "device/host/band_kernels/filter.h"
#include "device/host/band_kernels/bilateral_rest.h"
#include "device/host/band_kernels/ring_methods.h"
#include "project/stripe_pattern.h"

namespace lepus::rings {
namespace {

constexpr std::int64_t strip = 128;  // columns that a thread averages at a time; its sums stay in the nearest cache
constexpr std::int64_t views_apart = 32;  // views whose sums are added up by themselves, so that threads can share them

// Sums over the views of a column: of the rest (0) or, where stripes are factors, of the values and of the trend.
struct Sums {
  double own = 0, smooth = 0;
};

void correct_strip(const Planes& sinograms, const Sums* sums, bool relative, std::int64_t plane, std::int64_t first) {
  const std::int64_t n = std::min(strip, sinograms.width - first);
  float pattern[strip];
  const auto views = static_cast<double>(sinograms.height);
  for (std::int64_t x = 0; x < n; ++x)
    pattern[x] = static_cast<float>(relative ? gain_repair(sums[x].own, sums[x].smooth) : sums[x].own / views);
  for (std::int64_t y = 0; y < sinograms.height; ++y) {
    float* row = sinograms.row(plane, y) + first;
    if (relative)
      for (std::int64_t x = 0; x < n; ++x) row[x] *= pattern[x];
    else
      for (std::int64_t x = 0; x < n; ++x) row[x] -= pattern[x];
  }
}

// rest: row - filter(row).
void add_row(const float* row, const float* rest, bool relative, std::int64_t width, Sums* sums) {
  for (std::int64_t x = 0; x < width; ++x) {
    sums[x].own += static_cast<double>(relative ? row[x] : rest[x]);
    if (relative) sums[x].smooth += static_cast<double>(row[x] - rest[x]);
  }
}

// sums[plane][part of the views][column]
void sum_bilateral(const Planes& part, const RingOptions& options, std::int64_t parts, Sums* sums,
                   ThreadPool& threads) {
  std::vector<BilateralRest> filters;
  filters.reserve(static_cast<std::size_t>(threads.size()));
  for (int i = 0; i < threads.size(); ++i)
    filters.emplace_back(part.width, options.radius, options.sigma, options.sigma_value);
  threads.parallel_for(0, part.count * parts, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    BilateralRest& filter = filters[static_cast<std::size_t>(worker)];
    for (std::int64_t piece = begin; piece < end; ++piece) {
      Sums* own = sums + piece * part.width;
      std::fill_n(own, part.width, Sums{});
      const std::int64_t first = piece % parts * views_apart, last = std::min(first + views_apart, part.height);
      for (std::int64_t y = first; y < last; ++y) {
        const float* row = part.row(piece / parts, y);
        filter.apply(row);
        add_row(row, filter.rest(), options.relative, part.width, own);
      }
    }
  });
}

void sum_filtered(const Planes& part, const Planes& smooth, const RingOptions& options, std::int64_t parts, Sums* sums,
                  ThreadPool& threads) {
  filter(part, smooth, trend_filter(options), threads);
  threads.parallel_for(0, part.count * parts, 1, [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<float> rest(static_cast<std::size_t>(part.width));
    for (std::int64_t piece = begin; piece < end; ++piece) {
      Sums* own = sums + piece * part.width;
      std::fill_n(own, part.width, Sums{});
      const std::int64_t first = piece % parts * views_apart, last = std::min(first + views_apart, part.height);
      for (std::int64_t y = first; y < last; ++y) {
        const float* row = part.row(piece / parts, y);
        const float* trend = smooth.row(piece / parts, y);
        for (std::int64_t x = 0; x < part.width; ++x) rest[static_cast<std::size_t>(x)] = row[x] - trend[x];
        add_row(row, rest.data(), options.relative, part.width, own);
      }
    }
  });
}

std::int64_t parts_of(const Planes& sinograms) { return (sinograms.height + views_apart - 1) / views_apart; }

}  // namespace

void remove_by_trend(const Planes& sinograms, const RingOptions& options, ThreadPool& threads) {
  const bool bilateral = options.filter == FilterKind::bilateral;
  const std::int64_t group = group_of(sinograms), width = sinograms.width, height = sinograms.height;
  const std::int64_t strips = (width + strip - 1) / strip, parts = parts_of(sinograms);
  Buffer<float> memory(bilateral ? 1 : group * width * height);
  Buffer<Sums> sums(group * parts * width);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    const Planes part = part_of(sinograms, first, group);
    const Planes smooth{memory.data(), width, height, width, part.count, width * height};
    for (int i = 0; i < options.iterations; ++i) {
      if (bilateral)
        sum_bilateral(part, options, parts, sums.data(), threads);
      else
        sum_filtered(part, smooth, options, parts, sums.data(), threads);
      threads.parallel_for(0, part.count * strips, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t piece = begin; piece < end; ++piece) {
          const std::int64_t plane = piece / strips, start = piece % strips * strip;
          Sums* total = sums.data() + plane * parts * width + start;
          for (std::int64_t p = 1; p < parts; ++p)
            for (std::int64_t x = 0; x < std::min(strip, width - start); ++x) {
              total[x].own += total[p * width + x].own;
              total[x].smooth += total[p * width + x].smooth;
            }
          correct_strip(part, total, options.relative, plane, start);
        }
      });
    }
  }
}

std::int64_t trend_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads) {
  const Planes part = part_of(sinograms, 0, group_of(sinograms));
  const std::int64_t sums = part.count * parts_of(part) * part.width * static_cast<std::int64_t>(sizeof(Sums));
  if (options.filter == FilterKind::bilateral)
    return sums +
           threads * BilateralRest::floats(part.width, options.radius) * static_cast<std::int64_t>(sizeof(float));
  return sums + part.count * part.width * part.height * static_cast<std::int64_t>(sizeof(float)) +
         filter_scratch_bytes(part, trend_filter(options), threads);
}

}  // namespace lepus::rings

// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/view_loops.h"

#include <algorithm>

namespace lepus {
namespace {

constexpr std::int64_t grain_rows = 64;

// body(row of floats, view) for every row of every sinogram.
template <class Body>
void for_every_row(const Planes& planes, ThreadPool& threads, const Body& body) {
  threads.parallel_for(0, planes.count * planes.height, grain_rows, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      body(planes.row(i / planes.height, i % planes.height), i % planes.height);
  });
}

}  // namespace

void scale_views(const Planes& sinograms, const float* factors, ThreadPool& threads) {
  for_every_row(sinograms, threads, [&](float* row, std::int64_t view) {
    const float factor = factors[view];
    for (std::int64_t x = 0; x < sinograms.width; ++x) row[x] *= factor;
  });
}

void remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, ThreadPool& threads) {
  if (sinograms.height < 1) return;
  // The states of a block of columns stay in the first cache while all views pass by.
  constexpr std::int64_t block = 512;
  const std::int64_t blocks = (sinograms.width + block - 1) / block;
  threads.parallel_for(0, sinograms.count * blocks, 1, [&](std::int64_t begin, std::int64_t end, int) {
    alignas(64) float states[block];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t plane = i / blocks, first = i % blocks * block;
      const std::int64_t width = std::min(block, sinograms.width - first);
      const float* start_row = sinograms.row(plane, 0) + first;
      for (std::int64_t x = 0; x < width; ++x) states[x] = lag_start(start, start_row[x]);
      for (std::int64_t view = 0; view < sinograms.height; ++view) {
        float* row = sinograms.row(plane, view) + first;
        for (std::int64_t x = 0; x < width; ++x) {
          float state = states[x];
          row[x] = without_lag(model, row[x], state);
          states[x] = state;
        }
      }
    }
  });
}

void linearise(const Planes& sinograms, const HardeningCurve& curve, ThreadPool& threads) {
  const HardeningCurve c = curve;
  for_every_row(sinograms, threads, [&](float* row, std::int64_t) {
    for (std::int64_t x = 0; x < sinograms.width; ++x) row[x] = linearised(c, row[x]);
  });
}

void interpolate_flats(const Planes& sinograms, std::int64_t first_row, const FlatsOfViews& flats,
                       ThreadPool& threads) {
  const std::int64_t columns = sinograms.width;
  threads.parallel_for(0, sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t first = (first_row + plane) * columns;
      const float* mean = flats.mean + first;
      for (std::int64_t view = 0; view < sinograms.height; ++view) {
        const FlatShare s = flats.shares[view];
        const float *before = flats.flats + s.before * flats.pixels + first,
                    *after = flats.flats + s.after * flats.pixels + first;
        float* values = sinograms.row(plane, view);
        for (std::int64_t u = 0; u < columns; ++u)
          values[u] *= flat_factor(mean[u], interpolated_flat(before[u], after[u], s.share));
      }
    }
  });
}

}  // namespace lepus

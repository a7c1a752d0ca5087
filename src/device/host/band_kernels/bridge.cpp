// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/bridge.h"

namespace lepus::pixels {

void bridge(std::span<const PixelRun> runs, std::span<const RowLine> lines, const Planes& sinograms,
            ThreadPool& threads) {
  const std::int64_t columns = sinograms.width;
  threads.parallel_for(0, static_cast<std::int64_t>(runs.size()), 4, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const PixelRun& run = runs[static_cast<std::size_t>(i)];
      for (std::int64_t view = 0; view < sinograms.height; ++view) {
        float* w = sinograms.row(run.row, view);
        for (std::int64_t x = run.begin; x < run.end; ++x) w[x] = bridged(w, run, columns, x);
      }
    }
  });
  for (const RowLine& line : lines) {
    if (line.above < 0 && line.below < 0) continue;
    const std::int64_t above = line.above >= 0 ? line.above : line.below;
    const std::int64_t below = line.below >= 0 ? line.below : line.above;
    threads.parallel_for(0, sinograms.height, 16, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t view = begin; view < end; ++view) {
        const float *a = sinograms.row(above, view), *b = sinograms.row(below, view);
        float* w = sinograms.row(line.row, view);
        for (std::int64_t x = 0; x < columns; ++x) w[x] = above == below ? a[x] : between_rows(a[x], b[x], line);
      }
    });
  }
}

}  // namespace lepus::pixels

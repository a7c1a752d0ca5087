// SPDX-License-Identifier: Apache-2.0
#include "filter/filter_sinogram.h"

#include <algorithm>

#include "core/memory.h"

namespace lepus {

FilteredSinogram filter_sinogram(const ScanGeometry& geometry, const FdkWeights& weights, const RampOptions& ramp,
                                 const float* sinogram, std::int64_t row, ThreadPool& threads) {
  const ColumnPadding padding = weights.padding();
  FilteredSinogram result;
  result.geometry = padded(geometry, padding);
  result.columns = result.geometry.columns;
  result.rows.assign(static_cast<std::size_t>(geometry.views() * (result.columns + 2)), 0.0F);
  const RampFilter filter(result.columns, ramp);
  std::vector<Buffer<float>> scratch;
  scratch.reserve(static_cast<std::size_t>(threads.size()));
  for (int i = 0; i < threads.size(); ++i) scratch.emplace_back(filter.scratch_floats());
  threads.parallel_for(0, geometry.views(), 4, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t view = begin; view < end; ++view) {
      float* line = result.rows.data() + view * (result.columns + 2) + 1;
      float* data = line + padding.left;
      std::copy_n(sinogram + view * geometry.columns, geometry.columns, data);
      weights.apply(view, row, row + 1, data);
      filter.apply(line, scratch[static_cast<std::size_t>(worker)].data());
    }
  });
  return result;
}

}  // namespace lepus

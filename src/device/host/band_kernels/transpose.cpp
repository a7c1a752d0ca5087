// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/transpose.h"

#include <algorithm>

namespace lepus::host {

void transpose(const Planes& in, const Planes& out, ThreadPool& threads) {
  constexpr std::int64_t tile = 32;  // 32 rows of 128 bytes stay in the first cache
  const std::int64_t bands = (in.height + tile - 1) / tile;
  threads.parallel_for(0, in.count * bands, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t z = i / bands, y0 = i % bands * tile, y1 = std::min(y0 + tile, in.height);
      for (std::int64_t x0 = 0; x0 < in.width; x0 += tile)
        for (std::int64_t x = x0; x < std::min(x0 + tile, in.width); ++x)
          for (std::int64_t y = y0; y < y1; ++y) out.row(z, x)[y] = in.row(z, y)[x];
    }
  });
}

}  // namespace lepus::host

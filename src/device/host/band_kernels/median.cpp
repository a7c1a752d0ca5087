// SPDX-License-Identifier: Apache-2.0
// The median filter on the CPU: threads over tiles (median_tile.h).
#include <algorithm>
#include <vector>

#include "device/host/band_kernels/median_tile.h"

namespace lepus::filters {

void median_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads) {
  // A tile's values are sorted with all that its masks see beyond it: the tile grows with the mask, so that this does
  // not become most of the work, up to what a core's cache holds.
  const std::int64_t width = from.part.width, r = pass.reach_u;
  std::int64_t wide = std::max<std::int64_t>(4096, 2 * r), high = 1;
  if (pass.reach_z > 0)
    wide = high = std::clamp<std::int64_t>(2 * r, 64, 256);
  else if (pass.reach_v > 0)
    wide = high = std::clamp<std::int64_t>(2 * r, 128, 512);
  const std::int64_t across = (width + wide - 1) / wide, down = (pass.rows.size() + high - 1) / high;
  std::vector<MedianTile> tiles(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(0, across * down * pass.planes.size(), high == 1 ? 8 : 1,
                       [&](std::int64_t begin, std::int64_t end, int worker) {
                         for (std::int64_t task = begin; task < end; ++task) {
                           TileRegion tile;
                           tile.plane = pass.planes.first + task / (across * down);
                           const std::int64_t y = pass.rows.first + task / across % down * high;
                           const std::int64_t x = task % across * wide;
                           tile.rows = {y, std::min(y + high, pass.rows.last)};
                           tile.columns = {x, std::min(x + wide, width)};
                           tiles[static_cast<std::size_t>(worker)].run(pass, from, to, tile);
                           for (std::int64_t row = tile.rows.first; row < tile.rows.last; ++row)
                             put_back(pass, original, to, tile.plane, row, tile.columns.first, tile.columns.last);
                         }
                       });
}

}  // namespace lepus::filters

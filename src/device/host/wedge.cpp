// SPDX-License-Identifier: Apache-2.0
#include "device/host/wedge.h"

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {

void check_wedge(const Backprojector& backprojector, const VolumeGrid& grid, const BandSet& wedge, const SlabView& slab,
                 std::int64_t cuts) {
  const auto refuse = [](std::string why) {
    throw Error(
        ErrorKind::internal,
        {.what = "backprojection was given a cut it cannot take", .where = {}, .why = std::move(why), .hint = {}});
  };
  const auto views = static_cast<std::int64_t>(backprojector.view_order().size());
  const auto end = wedge.first + static_cast<std::int64_t>(wedge.bands.size());
  const std::int64_t block = backprojector.view_block();
  if (wedge.first < 0 || end > views || wedge.first % block != 0 || (end % block != 0 && end != views))
    refuse(format("views [{}, {}) of {}, blocks of {}", wedge.first, end, views, block));
  if (slab.z0 < 0 || slab.z1 < slab.z0 || slab.z1 > grid.nz || slab.z0 % cuts != 0)
    refuse(format("slices [{}, {}) of {}, cuts at multiples of {}", slab.z0, slab.z1, grid.nz, cuts));
  if (slab.z_stride < slab.z1 - slab.z0) refuse(format("{} slices in columns of {}", slab.z1 - slab.z0, slab.z_stride));
  for (const auto& band : wedge.bands)
    if (band.rows < 0 || band.rows > wedge.row_stride || (band.rows > 0 && band.data == nullptr))
      refuse(format("a band of {} rows in columns of {}", band.rows, wedge.row_stride));
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Slabs of slices with some more on each side, which their voxels are computed from.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/vector_kernels.h"

namespace lepus::files {

inline constexpr std::int64_t float_bytes = sizeof(float);

// Slices [z0, z1) are made from [first, last).
struct Slab {
  std::int64_t z0 = 0, z1 = 0, first = 0, last = 0;
  std::int64_t held() const { return last - first; }
};

template <class Body>
void each_slab(std::int64_t nz, std::int64_t slices, std::int64_t halo, const Body& body) {
  for (std::int64_t z0 = 0; z0 < nz; z0 += slices) {
    const std::int64_t z1 = std::min(nz, z0 + slices);
    body(Slab{z0, z1, std::max<std::int64_t>(0, z0 - halo), std::min(nz, z1 + halo)});
  }
}

// Error(memory): not even one slice and its neighbours fit.
[[noreturn]] void refuse_slices(const VolumeShape& shape, std::int64_t work_bytes);

}  // namespace lepus::files

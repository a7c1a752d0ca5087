// SPDX-License-Identifier: Apache-2.0
// For tests: maps whose vectors lie partly on the device, from the least of its memory that the operator works with.
#pragma once

#include <memory>
#include <vector>

#include "operators/scan_map.h"
#include "operators/test_scans.h"
#include <lepus/error.h>

namespace lepus::operator_cases {

// With room for nothing but the thinnest pieces, then for parts of the line integrals and for more and more volumes, to
// at least three.
inline std::vector<std::unique_ptr<LinearMap>> spread_maps(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                           const OperatorOptions& options, std::int64_t part_bytes) {
  const std::int64_t volume = grid.voxels() * 4;
  const auto made = [&](std::int64_t bytes, std::int64_t part) -> std::unique_ptr<LinearMap> {
    try {
      return make_spread_map(geometry, grid, options, bytes, part);
    } catch (const Error&) {
      return {};
    }
  };
  std::vector<std::unique_ptr<LinearMap>> maps;
  std::int64_t bytes = volume / 8;
  while (maps.empty() && bytes < (1 << 30)) {
    if (auto map = made(bytes, bytes)) maps.push_back(std::move(map));  // no part of that size has room
    bytes = bytes * 5 / 4;
  }
  for (std::int64_t volumes = -1; volumes < 3; bytes += volume / 2) {
    auto map = made(bytes, part_bytes);
    if (!map || map->vector_memory()->volumes_on_device() <= volumes) continue;
    volumes = map->vector_memory()->volumes_on_device();
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace lepus::operator_cases

// SPDX-License-Identifier: Apache-2.0
// For tests: a volume file of a known pattern in a folder that goes.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "io/test_support.h"
#include "view/opened_volume.h"

namespace lepus::view {

struct TestVolume {
  TestVolume(const std::string& name, const VolumeGrid& the_grid,
             const std::function<float(std::int64_t, std::int64_t, std::int64_t)>& value = test::float_pattern)
      : path(folder / name), grid(the_grid) {
    for (std::int64_t z = 0; z < grid.nz; ++z)
      for (std::int64_t y = 0; y < grid.ny; ++y)
        for (std::int64_t x = 0; x < grid.nx; ++x) voxels.push_back(value(x, y, z));
    const auto writer = create_volume(path, grid);
    writer->write(0, grid.nz, voxels.data());
    writer->finish("{}");
  }
  float at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return voxels[static_cast<std::size_t>((z * grid.ny + y) * grid.nx + x)];
  }
  test::TempFolder folder;
  std::filesystem::path path;
  VolumeGrid grid;
  std::vector<float> voxels;
};

}  // namespace lepus::view

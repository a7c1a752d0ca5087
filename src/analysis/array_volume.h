// SPDX-License-Identifier: Apache-2.0
// A volume in memory that reads like a file: x fastest, then y, then z.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/volume_file.h"

namespace lepus {

class ArrayVolume final : public VolumeReader {
public:
  ArrayVolume(const VolumeGrid& grid, std::vector<float> values) : grid_(grid), values_(std::move(values)) {}

  const VolumeGrid& grid() const override { return grid_; }
  std::string format() const override { return "memory"; }
  std::string pixel_type() const override { return "float32"; }
  std::string provenance() const override { return {}; }
  void read(std::int64_t z0, std::int64_t z1, float* slices) const override {
    const std::int64_t slice = grid_.nx * grid_.ny;
    std::copy(values_.data() + z0 * slice, values_.data() + z1 * slice, slices);
  }

private:
  VolumeGrid grid_;
  std::vector<float> values_;
};

}  // namespace lepus

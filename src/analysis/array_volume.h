// SPDX-License-Identifier: Apache-2.0
// A volume in memory that reads like a file: x fastest, then y, then z.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/volume_file.h"

namespace lepus {

class ArrayVolume final : public VolumeReader {
public:
  ArrayVolume(const VolumeGrid& grid, std::vector<float> values)
      : grid_(grid), kept_(std::move(values)), values_(kept_) {}
  // Of values that somebody else keeps.
  ArrayVolume(const VolumeGrid& grid, std::span<const float> values) : grid_(grid), values_(values) {}
  ArrayVolume(const ArrayVolume&) = delete;  // values_ may be its own
  ArrayVolume& operator=(const ArrayVolume&) = delete;

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
  std::vector<float> kept_;
  std::span<const float> values_;
};

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Arrays in memory as the source of frames and the sink of slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/format.h"
#include "io/frames.h"
#include "io/volume_file.h"

namespace lepus {

// Line integrals or counts as float: views x rows x columns of the recorded detector.
class MemoryFrames final : public FrameSource {
public:
  MemoryFrames(const ScanGeometry& geometry, const float* data)
      : columns_(geometry.recorded_on_arc ? geometry.recorded_on_arc->columns : geometry.columns),
        rows_(geometry.recorded_on_arc ? geometry.recorded_on_arc->rows : geometry.rows),
        frames_(geometry.views()),
        data_(data) {}

  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return frames_; }
  PixelType pixel_type() const override { return PixelType::f32; }
  std::string name(std::int64_t frame) const override { return format("array in memory, view {}", frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    const float* first = data_ + (frame * rows_ + row0) * columns_;
    std::copy(first, first + (row1 - row0) * columns_, static_cast<float*>(out));
  }
  const void* in_memory(std::int64_t frame, std::int64_t row0) const override {
    return data_ + (frame * rows_ + row0) * columns_;
  }

private:
  std::int64_t columns_, rows_, frames_;
  const float* data_;
};

class MemoryVolume final : public VolumeWriter {
public:
  MemoryVolume(const VolumeGrid& grid, float* volume) : slice_(grid.nx * grid.ny), volume_(volume) {}
  void write(std::int64_t z0, std::int64_t z1, const float* slices) override {
    std::copy(slices, slices + (z1 - z0) * slice_, volume_ + z0 * slice_);
  }
  float* in_memory(std::int64_t z0) override { return volume_ + z0 * slice_; }
  void finish(const std::string&) override {}

private:
  std::int64_t slice_;
  float* volume_;
};

}  // namespace lepus

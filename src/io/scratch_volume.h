// SPDX-License-Identifier: Apache-2.0
// A volume that is written and read in one run and never has a name: float voxels in a scratch file, the rest in
// memory.
#pragma once

#include <filesystem>
#include <string>

#include "core/scratch_file.h"
#include "io/volume_file.h"
#include "io/written_slices.h"

namespace lepus {

class ScratchVolume final : public VolumeWriter, public VolumeReader {
public:
  ScratchVolume(const std::filesystem::path& folder, const VolumeGrid& grid, std::string unit)
      : grid_(grid),
        unit_(std::move(unit)),
        file_(folder, grid.voxels() * static_cast<std::int64_t>(sizeof(float)),
              {"a volume between two steps", "free some space or write to another disk"}),
        written_(grid.nz, "a volume between two steps") {}

  void write(std::int64_t z0, std::int64_t z1, const float* slices) override {
    written_.begin(z0, z1);
    file_.write(z0 * slice_bytes(), slices, (z1 - z0) * slice_bytes());
    written_.end(z0, z1);
  }
  void finish(const std::string& provenance) override {
    written_.check_complete();
    provenance_ = provenance;
  }

  const VolumeGrid& grid() const override { return grid_; }
  std::string format() const override { return "scratch"; }
  std::string pixel_type() const override { return "float32"; }
  std::string provenance() const override { return provenance_; }
  std::string unit() const override { return unit_; }
  void read(std::int64_t z0, std::int64_t z1, float* slices) const override {
    file_.read(z0 * slice_bytes(), slices, (z1 - z0) * slice_bytes());
  }

private:
  std::int64_t slice_bytes() const { return grid_.nx * grid_.ny * static_cast<std::int64_t>(sizeof(float)); }

  VolumeGrid grid_;
  std::string unit_, provenance_;
  ScratchFile file_;
  WrittenSlices written_;
};

}  // namespace lepus

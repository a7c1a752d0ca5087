// SPDX-License-Identifier: Apache-2.0
// A volume against another one: as they lie, or after a rigid registration, the other one interpolated where the first
// one's voxels are.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/bit_volume.h"
#include "analysis/compare.h"
#include "analysis/registration.h"
#include "analysis/slices.h"
#include "analysis/work_memory.h"

namespace lepus::analysis {

struct AgainstOptions {
  const VolumeReader* other = nullptr;
  bool registered = false;          // else both must have the same grid
  std::filesystem::path moved_map;  // the other volume as it was compared; "": not written
  std::string provenance;           // for it
};

struct AgainstResult {
  std::optional<Registration> registration;
  Comparison comparison;             // the first volume is the reference; no SSIM
  std::optional<Comparison> scaled;  // registered: the same with gain * other + offset
  std::vector<Slice> first, other;   // through the middle
};

// The values of `other` at motion(voxel) for every voxel of `grid`, linear between its voxels, NaN outside; any part of
// `other` is read in slabs, so that it need not fit into memory however it is turned.
class MovedVolume final : public VolumeReader {
public:
  MovedVolume(const VolumeReader& other, const RigidMotion& motion, const VolumeGrid& grid, WorkMemory& memory,
              Context& context);

  const VolumeGrid& grid() const override { return grid_; }
  std::string format() const override { return "memory"; }
  std::string pixel_type() const override { return "float32"; }
  std::string provenance() const override { return {}; }
  void read(std::int64_t z0, std::int64_t z1, float* slices) const override;

private:
  VolumeGrid grid_;
  SliceStore<float> store_;
};

// Voxels of the first volume that are `inside` count.
AgainstResult compare_against(const VolumeReader& volume, const AgainstOptions& options, const BitVolume& inside,
                              WorkMemory& memory, Context& context);

}  // namespace lepus::analysis

// SPDX-License-Identifier: Apache-2.0
// What a volume file stores of each voxel. docs/formats.md says which formats have which type.
#pragma once

namespace lepus {

enum class VoxelType { float32, float16, uint16 };

struct OutputValues {
  VoxelType type = VoxelType::float32;
  double low = 0, high = 0;  // uint16: the values that become 0 and 65535; what is beyond is cut off there
};

}  // namespace lepus

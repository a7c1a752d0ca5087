// SPDX-License-Identifier: Apache-2.0
// Voxels as a file stores them: rounded to integers of a scale, or to 16-bit floats.
#pragma once

#include <cstdint>
#include <optional>

#include "io/frames.h"
#include "io/volume_file.h"

namespace lepus {

bool is_volume_type(PixelType type);  // one that store_voxels makes, or float

// `count` voxels -> `stored`, halves of a step up; how many were cut off at the ends of the type. Nothing where a value
// is not a number, which integers cannot say.
std::optional<std::int64_t> store_voxels(PixelType type, const ValueScale& scale, const float* voxels,
                                         std::int64_t count, void* stored);

}  // namespace lepus

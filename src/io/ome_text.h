// SPDX-License-Identifier: Apache-2.0
// The XML of OME-TIFF (schema 2016-06): what it says of the one stack of a file.
#pragma once

#include <cstdint>
#include <string>

#include <lepus/geometry.h>

namespace lepus {

bool is_ome(const std::string& description);

// The voxel size; 1 mm along axes of which it says nothing. Error(unsupported) for several channels or times and for
// slices in several files, Error(input) where it is damaged.
Vec3 ome_voxel_mm(const std::string& description, std::int64_t pages, const std::string& where);

}  // namespace lepus

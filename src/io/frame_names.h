// SPDX-License-Identifier: Apache-2.0
// Under which names frames are written.
#pragma once

#include <filesystem>

namespace lepus {

// In an HDF5 file that names no other place.
inline constexpr const char* frames_dataset = "/exchange/data";

void check_frames_name(const std::filesystem::path& path);  // Error(unsupported) for an ending that frames do not have

}  // namespace lepus

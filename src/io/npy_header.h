// SPDX-License-Identifier: Apache-2.0
// The header of NumPy's .npy (numpy.lib.format, versions 1 to 3): type, order and shape as a Python dictionary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/frames.h"
#include "io/stored_array.h"

namespace lepus {

// NumPy's name of a type in little-endian order: "<f4".
std::string numpy_name(PixelType type);

// Version 1.0, padded so that the data begin at a multiple of 64 bytes. `shape` slowest first; none: a single value.
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape);

// `read` fills the next bytes from the start of the .npy and says how many there were. The array's offset is the
// length of the header; its `problem` says where the type is none that lepus reads. Error(input) where it is no header.
StoredArray parse_npy_header(const std::function<std::int64_t(void*, std::int64_t)>& read,
                             const std::filesystem::path& file);

}  // namespace lepus

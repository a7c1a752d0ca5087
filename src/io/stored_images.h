// SPDX-License-Identifier: Apache-2.0
// The images that a file of several arrays holds, for those who ask before they choose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/frames.h"

namespace lepus {

struct StoredImages {
  std::string dataset;
  std::int64_t images = 0, rows = 0, columns = 0;
  PixelType type = PixelType::f32;
  std::string problem;  // why they cannot be read, "" where they can; the rest is then unknown
};

// Datasets of two and three dimensions, those behind links too. Throws Error(unsupported) in a build without HDF5.
std::vector<StoredImages> list_stored_images(const std::filesystem::path& file);

}  // namespace lepus

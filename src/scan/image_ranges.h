// SPDX-License-Identifier: Apache-2.0
// Which images of a file are frames, flats or darks: "0..9, 190..199" in the scan file, or NXtomo's image keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lepus {

// "0..9, 17" -> 0, 1, ..., 9, 17: both ends included, counted from 0, ascending. Throws Error(input) where it is
// anything else or goes past `available` images.
std::vector<std::int64_t> parse_image_ranges(const std::string& text, std::int64_t available);

// 0: frame, 1: flat, 2: dark, 3: invalid.
struct ImageKeys {
  std::vector<std::int64_t> frames, flats, darks;
};
ImageKeys sort_image_keys(const std::vector<double>& keys, std::int64_t images);  // throws Error(input)

}  // namespace lepus

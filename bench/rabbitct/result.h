// SPDX-License-Identifier: Apache-2.0
// RabbitCT's result file (.rctd), versions 1 and 2, little-endian: what a run took and how good it was, with one slice.
//   i32 magic; [i32 version, only in version 2]; i32 size; i32 views; u64 microseconds[views];
//   f32 slice size/2 - 1 in HU, size x size; f64 mean squared error, f64 largest error; u32 histogram[11]; i32 end
//   magic.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace lepus::rabbitct {

struct Result {
  int version = 2;
  std::int64_t size = 0;
  std::vector<std::uint64_t> microseconds;  // per view
  std::vector<float> centre_slice;          // size * size, HU
  double mean_squared_error = 0, largest_error = 0;
  std::array<std::uint32_t, 11> histogram{};
};

void write_result(const std::filesystem::path& path, const Result& result, bool force);
Result read_result(const std::filesystem::path& path);  // throws Error(input)
bool is_result(const std::filesystem::path& path);      // by its first word

}  // namespace lepus::rabbitct

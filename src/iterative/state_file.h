// SPDX-License-Identifier: Apache-2.0
// The state of a method in a file: "lepus method state 1\n", the length of a JSON header, the header (whose work it is,
// the iteration, numbers, names and lengths of vectors), the vectors as fp32, and a checksum of them. Native byte
// order.
#pragma once

#include <filesystem>
#include <string>

#include "iterative/method.h"

namespace lepus {

struct StateHeader {
  std::string scan;     // which scan: a state of another one is refused
  std::string options;  // of the method, which must be the same to go on
  std::int64_t iteration = 0;
};

// In the place of an older one, whole or not at all. Throws Error(disk).
void save_state(const std::filesystem::path& file, const StateHeader& header, Method& method);
// Throws Error(input) where the file is none, is cut short, or is of another scan, method or options.
void load_state(const std::filesystem::path& file, const StateHeader& expected, Method& method);

}  // namespace lepus

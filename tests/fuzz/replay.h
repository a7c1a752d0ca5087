// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz_targets.h"

namespace lepus {

namespace fs = std::filesystem;

inline void replay(const char* name, void (*target)(const std::uint8_t*, std::size_t)) {
  const fs::path corpus = fs::path(LEPUS_SOURCE_DIR) / "tests/fuzz/corpus" / name;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NO_THROW(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    ++count;
  }
  EXPECT_GE(count, 3) << "the corpus of " << name << " is missing";
}

}  // namespace lepus

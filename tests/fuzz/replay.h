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

inline void replay(const fuzz::Target& target) {
  const fs::path corpus = fs::path(LEPUS_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
  ASSERT_TRUE(fs::is_directory(corpus)) << corpus;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NO_THROW(target.read(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    ++count;
  }
  EXPECT_GE(count, 3) << "the corpus of " << target.name << " is missing";
}

}  // namespace lepus

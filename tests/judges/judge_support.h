// SPDX-License-Identifier: Apache-2.0
// What the judges share: a folder that goes with the test, other people's data and programs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lepus::judge {

class Judge : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("lepus_judge_" + std::to_string(::getpid()) + "_" +
                                                       testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

inline std::filesystem::path shared_data() {
  const char* given = std::getenv("LEPUS_SHARED_DATA");
  return given ? std::filesystem::path(given) : std::filesystem::path(LEPUS_SOURCE_DIR "/../shared/data");
}

inline int run(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()); }

template <class T>
std::vector<T> read_all(const std::filesystem::path& file) {
  std::vector<T> values(std::filesystem::file_size(file) / sizeof(T));
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}

}  // namespace lepus::judge

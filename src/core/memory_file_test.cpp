// SPDX-License-Identifier: Apache-2.0
#include "core/memory_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/output_file.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

// A folder in memory, where the system has one.
class MemoryFile : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = "/dev/shm/lepus_test_XXXXXX";
    if (!::mkdtemp(name.data())) {
      std::puts("*** SKIPPED: there is no file system in memory at /dev/shm; nothing was tested ***");
      GTEST_SKIP();
    }
    folder_ = name;
    descriptor_ = ::open((folder_ / "file").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(descriptor_, 0);
    if (!lies_in_memory(descriptor_)) {
      std::puts("*** SKIPPED: /dev/shm does not lie in memory; nothing was tested ***");
      GTEST_SKIP();
    }
  }
  void TearDown() override {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  static std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
  int descriptor_ = -1;
};

TEST_F(MemoryFile, is_written_at_any_place) {
  std::vector<char> data(3 << 20);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7 + i / 4096);
  const std::string bytes(data.begin(), data.end());
  {
    PartialFile file(folder_ / "v.raw", false, 0);
    file.append("head");
    file.resize(4 + 2 * static_cast<std::int64_t>(data.size()));
    file.write(4 + static_cast<std::int64_t>(data.size()), data.data(), static_cast<std::int64_t>(data.size()));
    file.write(4, data.data(), static_cast<std::int64_t>(data.size()));
    file.append("tail");
    file.commit();
  }
  EXPECT_TRUE(content(folder_ / "v.raw") == "head" + bytes + bytes + "tail");
}

TEST_F(MemoryFile, is_filled_through_a_mapping) {
  const std::string data(1 << 20, 'x');
  ASSERT_EQ(::ftruncate(descriptor_, 2 << 20), 0);
#ifdef MADV_POPULATE_WRITE
  if (!copy_into_mapping(descriptor_, 4099, data.data(), 1 << 20)) {
    std::puts("*** SKIPPED: the kernel is older than Linux 5.14; nothing was tested ***");
    GTEST_SKIP();
  }
  EXPECT_TRUE(content(folder_ / "file") == std::string(4099, '\0') + data + std::string((1 << 20) - 4099, '\0'));
#endif
}

TEST_F(MemoryFile, that_is_too_short_is_left_to_write) {
  ASSERT_EQ(::ftruncate(descriptor_, 4096), 0);
  const std::string data(1 << 20, 'x');
  EXPECT_FALSE(copy_into_mapping(descriptor_, 4096, data.data(), 1 << 20));
  EXPECT_EQ(fs::file_size(folder_ / "file"), 4096U);
}

}  // namespace
}  // namespace lepus

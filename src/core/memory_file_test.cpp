// SPDX-License-Identifier: Apache-2.0
#include "core/memory_file.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/io_threads.h"
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
  limit_io_threads(8);
  std::vector<char> data(3 << 20);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7 + i / 4096);
  const std::string bytes(data.begin(), data.end());
  {
    PartialFile file(folder_ / "v.raw", false, 0);
    file.append("head");
    file.resize(4 + 2 * static_cast<std::int64_t>(data.size()));
    file.will_fill(4, 2 * static_cast<std::int64_t>(data.size()));
    EXPECT_TRUE(file.is_filled_by_threads());
    file.write(4 + static_cast<std::int64_t>(data.size()), data.data(), static_cast<std::int64_t>(data.size()));
    file.write(4, data.data(), static_cast<std::int64_t>(data.size()));
    file.append("tail");
    file.commit();
  }
  EXPECT_TRUE(content(folder_ / "v.raw") == "head" + bytes + bytes + "tail");
}

TEST_F(MemoryFile, is_filled_by_several_threads) {
  constexpr std::int64_t part = (1 << 20) + 77, begin = 4099, parts = 8, end = begin + parts * part;
  ASSERT_EQ(::ftruncate(descriptor_, end + 1), 0);
#ifdef MADV_POPULATE_WRITE
  MemoryFilling filling(descriptor_, begin, end);
  std::string all;
  for (int i = 0; i < parts; ++i) all += std::string(part, static_cast<char>('a' + i));
  std::atomic<int> copied = 0;
  {
    std::vector<std::jthread> threads;
    for (std::int64_t i = 0; i < parts; ++i)
      threads.emplace_back([&, i] { copied += filling.copy(begin + i * part, all.data() + i * part, part) ? 1 : 0; });
  }
  if (copied == 0) {
    std::puts("*** SKIPPED: the kernel is older than Linux 5.14, or imitated; nothing was tested ***");
    GTEST_SKIP();
  }
  EXPECT_EQ(copied, parts);
  EXPECT_TRUE(content(folder_ / "file") == std::string(begin, '\0') + all + '\0');
#endif
}

TEST_F(MemoryFile, is_left_to_write_beyond_what_was_said) {
  ASSERT_EQ(::ftruncate(descriptor_, 3 << 20), 0);
  MemoryFilling filling(descriptor_, 1 << 20, 2 << 20);
  const std::string data(1 << 20, 'x');
  EXPECT_FALSE(filling.copy(0, data.data(), 1 << 20));
  EXPECT_FALSE(filling.copy((1 << 20) + 1, data.data(), 1 << 20));
  EXPECT_TRUE(content(folder_ / "file") == std::string(3 << 20, '\0'));
}

TEST_F(MemoryFile, that_became_shorter_is_left_to_write) {
  ASSERT_EQ(::ftruncate(descriptor_, 2 << 20), 0);
  MemoryFilling filling(descriptor_, 0, 2 << 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // its thread has taken all pages
  ASSERT_EQ(::ftruncate(descriptor_, 4096), 0);
  const std::string data(1 << 20, 'x');
  EXPECT_FALSE(filling.copy(4096, data.data(), 1 << 20));
  EXPECT_EQ(fs::file_size(folder_ / "file"), 4096U);
}

// A file system of two mebibytes, which only root can make: no signal, and what there is memory for is filled.
TEST_F(MemoryFile, without_memory_is_left_to_write) {
  const fs::path small = folder_ / "small";
  fs::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=2m") != 0) {
    std::puts("*** SKIPPED: only root can make a file system; nothing was tested ***");
    GTEST_SKIP();
  }
  const int file = ::open((small / "file").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::ftruncate(file, 8 << 20), 0);
  const std::string data(4 << 20, 'x');
  {
    MemoryFilling filling(file, 0, 8 << 20);
    EXPECT_FALSE(filling.copy(4 << 20, data.data(), 4 << 20));
  }
  ::close(file);
  EXPECT_EQ(::umount(small.c_str()), 0);
}

}  // namespace
}  // namespace lepus

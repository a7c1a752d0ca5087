// SPDX-License-Identifier: Apache-2.0
// A disk that fills up while a volume is written, played by a limit on the size of files: the write comes back short,
// then with EFBIG. A full disk takes the same path with ENOSPC, which only changes the first words of the message.
#include <csignal>
#include <thread>

#include <sys/resource.h>

#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);  // an error instead of a signal
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    rlimit limit = old_limit_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

private:
  rlimit old_limit_{};
  void (*old_handler_)(int) = nullptr;
};

TEST(DiskFull, is_an_error_and_leaves_nothing) {
  const VolumeGrid grid{64, 64, 40, {}, {1, 1, 1}};  // 640 KiB
  for (const char* name : {"v.mha", "v.mhd", "v.nrrd", "v.nhdr", "v.raw", "v.tif", "v.h5"}) {
    if (!have(fs::path(name).extension().string())) continue;
    SCOPED_TRACE(name);
    const TempFolder folder;
    const auto writer = create_volume(folder / name, grid);
    const std::vector<float> slab(64 * 64 * 10, 1.0f);
    std::optional<Error> error;
    {
      const FileSizeLimit limit(300 << 10);
      error = error_of([&] {
        for (std::int64_t z = 0; z < 40; z += 10) writer->write(z, z + 10, slab.data());
        writer->finish("{}");
      });
    }
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::disk);
    const std::string text = error->what();
    EXPECT_NE(text.find((folder / "v").string()), std::string::npos) << text;
    EXPECT_NE(text.find(" needed"), std::string::npos) << text;
    EXPECT_NE(text.find(" free"), std::string::npos) << text;
    EXPECT_EQ(folder.entries(), 0u) << "partial files must go at once";
    EXPECT_LEPUS_ERROR(writer->finish("{}"), ErrorKind::internal, "finished");
  }
}

// The thread that meets the end of the disk says so; the others, in the middle of their writing, harm no other file.
TEST(DiskFull, while_several_threads_write) {
  const VolumeGrid grid{64, 64, 40, {}, {1, 1, 1}};
  for (const char* name : {"v.mha", "v.tif", "v.h5"}) {
    if (!have(fs::path(name).extension().string())) continue;
    SCOPED_TRACE(name);
    const TempFolder folder;
    const auto writer = create_volume(folder / name, grid);
    const std::vector<float> slab(64 * 64, 1.0f);
    std::vector<std::optional<Error>> errors(4);
    {
      const FileSizeLimit limit(300 << 10);
      std::vector<std::thread> threads;
      for (std::size_t t = 0; t < errors.size(); ++t)
        threads.emplace_back([&, t] {
          errors[t] = error_of([&] {
            for (std::int64_t z = static_cast<std::int64_t>(t); z < 40; z += 4) writer->write(z, z + 1, slab.data());
          });
        });
      for (std::thread& thread : threads) thread.join();
    }
    int full = 0;
    for (const auto& error : errors) {
      if (!error) continue;  // it was done before
      full += error->kind() == ErrorKind::disk;
      EXPECT_TRUE(error->kind() == ErrorKind::disk || error->kind() == ErrorKind::internal) << error->what();
    }
    EXPECT_GT(full, 0);
    EXPECT_EQ(folder.entries(), 0u);
    EXPECT_LEPUS_ERROR(writer->finish("{}"), ErrorKind::internal, "given up");
  }
}

// Its slices wait in a scratch file, whose space is taken when the first comes.
TEST(DiskFull, while_slices_wait_to_be_packed) {
  if (!have(".zarr")) GTEST_SKIP() << "this build has no OME-Zarr";
  const TempFolder folder;
  const auto writer = create_volume(folder / "v.zarr", {64, 64, 40, {}, {1, 1, 1}});
  const std::vector<float> slab(64 * 64 * 10, 1.0f);
  {
    const FileSizeLimit limit(300 << 10);
    EXPECT_LEPUS_ERROR(writer->write(0, 10, slab.data()), ErrorKind::disk, "v.zarr");
  }
  EXPECT_EQ(folder.entries(), 0u);
  EXPECT_LEPUS_ERROR(writer->finish("{}"), ErrorKind::internal, "given up");
}

TEST(DiskFull, while_frames_are_written) {
  for (const char* name : {"a.raw", "a.tif", "a.h5", "f/%04d.tif"}) {
    if (!have(fs::path(name).extension().string())) continue;
    SCOPED_TRACE(name);
    const TempFolder folder;
    const bool many = std::string(name).find('%') != std::string::npos;
    // A frame of 8 KiB; where every frame is a file of its own, the limit cuts the first.
    const auto writer = create_frames(
        folder / name,
        {.columns = 64, .rows = 64, .frames = 100, .type = PixelType::u16, .force = false, .dataset = ""});
    std::optional<Error> error;
    {
      const FileSizeLimit limit(many ? 5000 : 100 << 10);
      const std::vector<std::uint16_t> frame(64 * 64, 1);
      error = error_of([&] {
        for (int f = 0; f < 100; ++f) writer->write(frame.data());
      });
    }
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::disk) << error->what();
    EXPECT_EQ(folder.entries(), 0u);
  }
}

}  // namespace
}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "core/context.h"
#include "core/folder.h"
#include "core/half_float.h"
#include "core/input_file.h"
#include "core/io_threads.h"
#include "core/memory.h"
#include "core/nesting.h"
#include "core/scratch_folder.h"
#include "core/text.h"
#include "core/threads.h"

namespace lepus {
namespace {

TEST(HalfFloat, every_half_comes_back_and_floats_go_to_the_nearest_even_one) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_from_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_half(half_from_float(value))));
      continue;
    }
    ASSERT_EQ(half_from_float(value), half);
    if ((bits & 0x7fff) >= 0x7bff) continue;  // the largest has no next one
    const float next = float_from_half(static_cast<std::uint16_t>(half + 1));
    const float middle = 0.5f * (value + next);  // exact
    ASSERT_EQ(half_from_float(middle), bits & 1 ? half + 1 : half) << bits;
    ASSERT_EQ(half_from_float(std::nextafter(middle, value)), half) << bits;
    ASSERT_EQ(half_from_float(std::nextafter(middle, next)), half + 1) << bits;
  }
  EXPECT_EQ(float_from_half(0x3c00), 1);
  EXPECT_EQ(float_from_half(0x7bff), largest_half);
  EXPECT_EQ(half_from_float(65519.99f), 0x7bff);
  EXPECT_EQ(half_from_float(65520), 0x7c00);
}

TEST(HalfFloat, many_are_as_one_and_those_beyond_are_the_largest) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    for (const std::uint32_t below : {0U, 1U, 0x0fffU, 0x1000U, 0x1001U, 0xffffU})
      values.push_back(std::bit_cast<float>(bits << 16 | below));
  std::vector<std::uint16_t> halves(values.size());
  std::int64_t beyond = 0;
  const std::int64_t counted = halves_from_floats(values.data(), std::ssize(values), halves.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool too_large = std::abs(values[i]) > largest_half;
    beyond += too_large;
    const float within = too_large ? std::copysign(largest_half, values[i]) : values[i];
    ASSERT_EQ(halves[i], half_from_float(within)) << values[i];
  }
  EXPECT_EQ(counted, beyond);
}

TEST(IoThreads, every_piece_is_done_once_and_an_error_comes_back) {
  limit_io_threads(4);
  std::vector<std::atomic<int>> done(1000);
  std::atomic<int> nested = 0;
  const int threads = io_parallel(1000, 4, [&](std::int64_t i) {
    ++done[static_cast<std::size_t>(i)];
    if (i < 3) io_parallel(5, 4, [&](std::int64_t) { ++nested; });
  });
  EXPECT_EQ(threads, 4);
  EXPECT_EQ(nested, 15);
  EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](const auto& n) { return n == 1; }));
  EXPECT_THROW(io_parallel(100, 4,
                           [](std::int64_t i) {
                             if (i == 17) throw std::runtime_error("17");
                           }),
               std::runtime_error);
  EXPECT_EQ(io_parallel(3, 1, [](std::int64_t) {}), 1);
}

TEST(IoThreads, the_fewest_that_are_fast_enough_are_kept) {
  const auto settled = [](const std::map<int, double>& rate) {
    MeasuredThreads threads(8);
    for (int i = 0; i < 20; ++i) threads.took(threads.next(), 64 << 20, (64 << 20) / rate.at(threads.next()));
    return threads.next();
  };
  EXPECT_EQ(settled({{1, 2e9}, {2, 3.9e9}, {4, 7e9}, {8, 7.1e9}}), 4);
  EXPECT_EQ(settled({{1, 2e9}, {2, 2.1e9}, {4, 1e9}, {8, 0.5e9}}), 1);
  EXPECT_EQ(settled({{1, 1e9}, {2, 2e9}, {4, 4e9}, {8, 8e9}}), 8);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Nesting, DepthIsCountedAsTheParsersWould) {
  const auto toml_is_fine = [](const std::string& text) {
    try {
      check_toml_nesting(text, "a.toml");
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return false;
    }
  };
  const int most = deepest_nesting;
  EXPECT_TRUE(toml_is_fine("a = " + repeated("[", most) + repeated("]", most)));
  EXPECT_FALSE(toml_is_fine("a = " + repeated("[", most + 1)));
  EXPECT_FALSE(toml_is_fine("[a" + repeated(".a", most) + "]"));
  EXPECT_FALSE(toml_is_fine("a" + repeated(" . 'b'", most + 1) + " = 1"));
  // What only looks deep: strings, comments, decimal points, brackets that are closed.
  EXPECT_TRUE(toml_is_fine("a = '" + repeated("[", 1000) + "' # " + repeated("[.", 1000) + "\nb = 1"));
  EXPECT_TRUE(
      toml_is_fine("a = \"\"\"" + repeated("[\n\\\"", 1000) + "\"\"\"\nb = \"\\\"" + repeated("[", 1000) + "\""));
  EXPECT_TRUE(toml_is_fine("a = [" + repeated("1.5, ", 1000) + "]\n" + repeated("[a.b]\nc.d = 1.5\n", 1000)));
  // What follows a string that is never closed counts on the next line.
  EXPECT_FALSE(toml_is_fine("a = '\n" + repeated("[", 1000)));
  EXPECT_NO_THROW(check_json_nesting("{\"a\": \"" + repeated("[\\\"", 1000) + "\"}", "a.json"));
  EXPECT_NO_THROW(check_json_nesting(repeated("[{}, []]", 1000), "a.json"));
  try {
    check_json_nesting("\n" + repeated("{\"a\":", 100'000), "a.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().where, "a.json:2");
  }
}

TEST(ScratchFolder, WhatAKilledRunLeftIsRemovedAndWhatOthersUseIsNot) {
  namespace fs = std::filesystem;
  struct Told : Progress {
    void warning(const std::string& message) override { text += message; }
    std::string text;
  } told;
  const fs::path parent = fs::temp_directory_path() / "lepus_scratch_test";
  fs::remove_all(parent);
  fs::create_directories(parent / "lepus-scratch-mine");  // a user's own
  fs::create_directories(parent / "lepus-scratch-dead");
  std::ofstream(parent / "lepus-scratch-dead" / ".lepus-lock").put('x');
  std::ofstream(parent / "lepus-scratch-dead" / "data") << std::string(5000, 'x');
  {
    const ScratchFolder first(parent, told);
    EXPECT_NE(told.text.find("lepus-scratch-dead (4.9 KiB)"), std::string::npos) << told.text;
    EXPECT_FALSE(fs::exists(parent / "lepus-scratch-dead"));
    std::ofstream(first.path() / "data") << "x";
    told.text.clear();
    const ScratchFolder second(parent, told);
    EXPECT_EQ(told.text, "");
    EXPECT_TRUE(fs::exists(first.path() / "data"));
    EXPECT_NE(first.path(), second.path());
  }
  EXPECT_TRUE(fs::exists(parent / "lepus-scratch-mine"));
  EXPECT_EQ(std::distance(fs::directory_iterator(parent), fs::directory_iterator()), 1);
  fs::remove_all(parent);
  EXPECT_THROW(ScratchFolder(parent / "nowhere", told), Error);
}

TEST(InputFile, OnlyPlainFilesAndOnlySoLarge) {
  const auto kind_of = [](const std::filesystem::path& path, std::int64_t limit) {
    try {
      (void)read_text_file(path, limit);
      return std::string();
    } catch (const Error& error) {
      EXPECT_FALSE(error.parts().hint.empty());
      return error.parts().what;
    }
  };
  EXPECT_EQ(kind_of("/dev/zero", 10), "not a regular file");
  EXPECT_EQ(kind_of("/", 10), "not a regular file");
  const auto file = std::filesystem::temp_directory_path() / "lepus_text_test";
  std::ofstream(file) << "0123456789";
  EXPECT_EQ(kind_of(file, 10), "");
  EXPECT_EQ(kind_of(file, 9), "file is too large");
  std::filesystem::remove(file);
  EXPECT_EQ(kind_of(file, 9), "file not found");
}

TEST(InputFile, ScatteredReadsAreOfTheSameFileThoughItsNameIsAnothers) {
  const auto name = std::filesystem::temp_directory_path() / "lepus_scattered_test";
  std::ofstream(name) << "0123456789";
  const InputFile file(name);
  std::filesystem::remove(name);
  std::ofstream(name) << "abcdefghij";
  std::string part(3, ' ');
  file.read(4, part.data(), 3, ReadPattern::scattered);
  EXPECT_EQ(part, "456");
  EXPECT_THROW(file.read(8, part.data(), 3, ReadPattern::scattered), Error);
  std::filesystem::remove(name);
}

TEST(ThreadPool, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> visits(1003);
    pool.parallel_for(0, 1003, 7, [&](std::int64_t begin, std::int64_t end, int worker) {
      ASSERT_LT(worker, threads);
      for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (const auto& v : visits) EXPECT_EQ(v.load(), 1);
  }
}

TEST(ThreadPool, PassesOnTheFirstExceptionAndGoesOnWorking) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.parallel_for(0, 100, 1,
                                 [](auto begin, auto, int) {
                                   if (begin == 50) throw std::runtime_error("stop");
                                 }),
               std::runtime_error);
  std::atomic<int> sum{0};
  pool.parallel_for(0, 10, 1, [&](auto, auto, int) { ++sum; });
  EXPECT_EQ(sum.load(), 10);
}

TEST(ThreadPool, StopsBetweenPiecesOnceCancelled) {
  constexpr int workers = 2, all = 10'000'000;
  CancelFlag flag;
  ThreadPool pool(workers, &flag);
  std::atomic<int> pieces{0}, late{0};
  EXPECT_THROW(pool.parallel_for(0, all, 1,
                                 [&](auto, auto, int) {
                                   if (flag.cancelled()) ++late;
                                   if (++pieces == 10) flag.cancel();
                                 }),
               Error);
  EXPECT_LE(late.load(), workers);  // the piece that each was about to begin
  EXPECT_LT(pieces.load(), all);
}

TEST(Memory, ParsesAmounts) {
  EXPECT_EQ(parse_bytes("4GiB"), std::int64_t{4} << 30);
  EXPECT_EQ(parse_bytes("800 MB"), 800'000'000);
  EXPECT_EQ(parse_bytes("1.5k"), 1536);
  EXPECT_EQ(parse_bytes("17"), 17);
  for (const char* bad : {"", "four", "-1G", "3 parsecs", "0"}) EXPECT_THROW(parse_bytes(bad), Error) << bad;
}

TEST(Memory, AllocationThatCannotSucceedSaysHowMuch) {
  try {
    Buffer<float> huge(std::int64_t{1} << 60);
    FAIL() << "an exabyte was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("TiB"), std::string::npos) << error.what();
  }
}

TEST(Memory, BuffersStartOnCacheLines) {
  for (const int n : {0, 1, 17, 4096}) {
    const Buffer<float> b(n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0U);
  }
}

TEST(Text, SuggestsOnlyNearNames) {
  const std::vector<std::string> names{"source_axis_mm", "source_detector_mm", "pixel_width_mm"};
  EXPECT_EQ(nearest_name("source_axs_mm", names), "source_axis_mm");
  EXPECT_EQ(nearest_name("source_detector", names), "source_detector_mm");
  EXPECT_EQ(nearest_name("banana", names), "");
}

TEST(Error, SaysWhatTheStandardLibraryThrewInItsOwnWords) {
  const Error own(ErrorKind::geometry, {.what = "what", .where = "where", .why = "why", .hint = "hint"});
  EXPECT_EQ(as_error(own).kind(), ErrorKind::geometry);
  EXPECT_STREQ(as_error(own).what(), own.what());
  const auto kind_of = [](const auto& exception) { return as_error(exception).kind(); };
  EXPECT_EQ(kind_of(std::bad_alloc()), ErrorKind::memory);
  EXPECT_EQ(kind_of(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))),
            ErrorKind::memory);  // a thread whose stack does not fit
  const std::filesystem::filesystem_error refused("rename", "a/b", std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(kind_of(refused), ErrorKind::disk);
  EXPECT_EQ(as_error(refused).parts().where, "a/b");
  EXPECT_EQ(kind_of(std::system_error(std::make_error_code(std::errc::io_error))), ErrorKind::internal);
  EXPECT_EQ(kind_of(std::out_of_range("at")), ErrorKind::internal);
}

// A folder that cannot be read to its end would pass for one that holds less.
TEST(Folder, IsListedWholeOrNotAtAll) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "lepus_test_folder";
  fs::remove_all(folder);
  fs::create_directories(folder / "b");
  for (const char* name : {"c", "a"}) std::ofstream(folder / name) << name;
  EXPECT_EQ(entries_of(folder), (std::vector<fs::path>{folder / "a", folder / "b", folder / "c"}));
  EXPECT_TRUE(entries_of(folder / "b").empty());
  EXPECT_TRUE(entries_of(folder / "nothing").empty());
  EXPECT_TRUE(entries_of(folder / "a").empty());
  fs::create_symlink("circle", folder / "circle");
  EXPECT_THROW(entries_of(folder / "circle"), Error);
  fs::remove_all(folder);
}

TEST(CancelFlag, ThrowsOnceSet) {
  CancelFlag flag;
  EXPECT_NO_THROW(flag.check());
  flag.cancel();
  EXPECT_THROW(flag.check(), Error);
}

}  // namespace
}  // namespace lepus

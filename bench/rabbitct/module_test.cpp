// SPDX-License-Identifier: Apache-2.0
// librabbitct_lepus.so as RabbitCT's runners use it: loaded by name, both structures, and scored on a small file.
#include "bench/rabbitct/module.h"

#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "io/test_support.h"
#include "bench/rabbitct/make.h"
#include "bench/rabbitct/score.h"

namespace lepus::rabbitct {
namespace {

constexpr std::uint32_t columns = 48, rows = 40, views = 10, size = 128;

const DataFile& data() {
  static const test::TempFolder folder;
  static const DataFile file = [] {
    ThreadPool threads(2);
    CancelFlag never;
    Progress silent;
    Context context{threads, never, silent};
    MakeOptions o;
    o.columns = columns;
    o.rows = rows;
    o.views = views;
    o.sizes = {size};
    o.reference_slices = 6;
    make(folder / "small.rct", o, context);
    return DataFile(folder / "small.rct");
  }();
  return file;
}

struct Module {
  void* library = nullptr;
  ModuleFunction prepare, load, backproject, finish, unload;

  Module() {
    ::setenv("LEPUS_RABBITCT_BACKEND", "cpu", 1);
    ::setenv("LEPUS_RABBITCT_THREADS", "2", 1);
    ::unsetenv("LEPUS_RABBITCT_BLOCK");
    library = ::dlopen(LEPUS_RABBITCT_MODULE, RTLD_LAZY);
    if (!library) throw std::runtime_error(::dlerror());
    ModuleFunction* all[] = {&prepare, &load, &backproject, &finish, &unload};
    for (std::size_t i = 0; i < 5; ++i) {
      *all[i] = reinterpret_cast<ModuleFunction>(::dlsym(library, module_functions[i]));
      if (*all[i] == nullptr) throw std::runtime_error(module_functions[i]);
    }
  }
  ~Module() { ::dlclose(library); }
};

// What the runner reads from the file.
struct Read {
  std::vector<std::vector<double>> matrices;
  std::vector<std::vector<float>> pixels;
  Read() {
    for (std::uint32_t view = 0; view < views; ++view) {
      const Matrix34 m = data().matrix(view);
      std::vector<double> column_by_column;
      for (int i = 0; i < 12; ++i) column_by_column.push_back(m(i % 3, i / 3));
      matrices.push_back(column_by_column);
      pixels.emplace_back(columns * rows);
      data().read_view(view, pixels.back().data());
    }
  }
};

Score score_of(const float* volume) {
  Score score;
  std::vector<std::uint16_t> reference(size * size);
  for (std::int64_t z = 0; z < size; ++z) {
    data().read_reference(size, z, z + 1, reference.data());
    score.add(volume + z * size * size, reference.data(), size * size, data().header().hu_scale);
  }
  return score;
}

void expect_good(const float* volume) {
  ASSERT_NE(volume, nullptr);
  const Score score = score_of(volume);
  EXPECT_EQ(score.voxels, 6 * size * size);
  EXPECT_TRUE(score.root_mean_squared_error() <= 0.05) << score.root_mean_squared_error();
}

OriginalData original_data() {
  OriginalData d;
  std::memset(&d, 0, sizeof(d));
  d.size = size;
  d.columns = columns;
  d.rows = rows;
  d.voxel_mm = 2;
  d.origin_mm = -127;
  d.view_buffers = 4;
  d.views = views;
  return d;
}

TEST(RabbitModule, AsTheOriginalRunnerLoadsIt) {
  const Module module;
  Read read;
  OriginalData d = original_data();
  ASSERT_EQ(module.prepare(&d), 1);
  ASSERT_EQ(module.load(&d), 1);
  ASSERT_NE(d.volume, nullptr);       // the module provides them
  ASSERT_NE(d.views_ahead, nullptr);  // both
  for (std::uint32_t first = 0; first < views; first += d.view_buffers) {
    const std::uint32_t count = std::min(d.view_buffers, views - first);
    for (std::uint32_t i = 0; i < count; ++i)
      std::memcpy(d.views_ahead[i], read.pixels[first + i].data(), columns * rows * sizeof(float));
    for (std::uint32_t i = 0; i < count; ++i) {
      d.view = d.views_ahead[i];
      d.matrix = read.matrices[first + i].data();
      d.view_number = first + i;
      d.views_read = count;
      d.first_of_read = i == 0;
      ASSERT_EQ(module.backproject(&d), 1);
    }
  }
  expect_good(d.volume);  // ready when the last view's call has returned
  d.view_number = views;
  EXPECT_EQ(module.backproject(&d), 0);  // one too many
  ASSERT_EQ(module.finish(&d), 1);
  expect_good(d.volume);
  ASSERT_EQ(module.unload(&d), 1);
  EXPECT_EQ(d.volume, nullptr);
}

// Version 1.0.2: no prepare, nothing cleared, the structure ends early, the runner has its own buffers.
TEST(RabbitModule, AsAnOldRunnerLoadsIt) {
  const Module module;
  Read read;
  OriginalData d;
  std::memset(&d, 0xA5, sizeof(d));
  const OriginalData fresh = original_data();
  std::memcpy(&d, &fresh, offsetof(OriginalData, views));
  std::vector<float> ahead(columns * rows);
  float* one = ahead.data();
  d.view_buffers = 1;
  d.views_ahead = &one;
  ASSERT_EQ(module.load(&d), 1);
  for (std::uint32_t view = 0; view < views; ++view) {
    std::memcpy(one, read.pixels[view].data(), columns * rows * sizeof(float));
    d.view = one;
    d.matrix = read.matrices[view].data();
    ASSERT_EQ(module.backproject(&d), 1);
  }
  ASSERT_EQ(module.finish(&d), 1);
  expect_good(d.volume);
  ASSERT_EQ(module.unload(&d), 1);
}

TEST(RabbitModule, AsErlangensRunnerLoadsIt) {
  const Module module;
  Read read;
  for (const bool announced : {false, true}) {
    std::vector<float> volume(size * size * size, 7.0F);  // not cleared
    ErlangenData d;
    std::memset(&d, 0xA5, sizeof(d));
    d.size = size;
    d.columns = columns;
    d.rows = rows;
    d.voxel_mm = 2;
    d.origin_mm = -127;
    d.volume = volume.data();
    d.views = announced ? views : 0;
    ASSERT_EQ(module.prepare(&d), 1);
    ASSERT_EQ(module.load(&d), 1);
    std::vector<ErlangenView> buffer(5);
    d.view = buffer.data();
    d.views = 5;
    for (std::uint32_t first = 0; first < views; first += 5) {
      for (std::uint32_t i = 0; i < 5; ++i)
        buffer[i] = {static_cast<std::int32_t>(first + i + 1), read.matrices[first + i].data(),
                     read.pixels[first + i].data()};
      ASSERT_EQ(module.backproject(&d), 1);
    }
    if (announced) expect_good(volume.data());
    ASSERT_EQ(module.finish(&d), 1);
    expect_good(volume.data());
    ASSERT_EQ(module.unload(&d), 1);
  }
}

TEST(RabbitModule, SaysNoInsteadOfThrowing) {
  const Module module;
  OriginalData d = original_data();
  EXPECT_EQ(module.backproject(&d), 0);  // nothing was begun
  EXPECT_EQ(module.finish(&d), 0);
  EXPECT_EQ(module.load(nullptr), 0);
  d.size = 100;
  EXPECT_EQ(module.load(&d), 0);  // 2 mm are not of that size
  d = original_data();
  ::setenv("LEPUS_RABBITCT_BACKEND", "abacus", 1);
  EXPECT_EQ(module.load(&d), 0);
  ::setenv("LEPUS_RABBITCT_BACKEND", "cpu", 1);
  ASSERT_EQ(module.load(&d), 1);
  EXPECT_EQ(module.backproject(&d), 0);  // no view
  Read read;
  read.matrices[0][4] = std::numeric_limits<double>::quiet_NaN();
  d.matrix = read.matrices[0].data();
  d.view = read.pixels[0].data();
  EXPECT_EQ(module.backproject(&d), 0);
  EXPECT_EQ(module.unload(&d), 1);
  EXPECT_EQ(module.unload(&d), 1);
}

}  // namespace
}  // namespace lepus::rabbitct

// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a folder that goes away, pictures with a known value in every pixel, errors as values.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/frames.h"
#include "io/volume_file.h"
#include <lepus/error.h>

namespace lepus::test {
namespace fs = std::filesystem;

class TempFolder {
public:
  TempFolder() {
    std::string name = (fs::temp_directory_path() / "lepus_io_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(path_), {}));
  }

private:
  fs::path path_;
};

// Exact in every pixel type: integers 0..125; formats_judge.py has the same formula.
inline int pattern(std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<int>((7 * x + 13 * y + 29 * z) % 126);
}
// The same with fractions and signs, exact in float.
inline float float_pattern(std::int64_t x, std::int64_t y, std::int64_t z) {
  return 0.5f * static_cast<float>(pattern(x, y, z)) - 20.25f;
}

template <class Pixel>
std::vector<Pixel> pattern_frame(std::int64_t columns, std::int64_t rows, std::int64_t frame) {
  std::vector<Pixel> pixels;
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x) pixels.push_back(static_cast<Pixel>(pattern(x, y, frame)));
  return pixels;
}

inline std::vector<float> pattern_volume(const VolumeGrid& grid) {
  std::vector<float> voxels;
  for (std::int64_t z = 0; z < grid.nz; ++z)
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x) voxels.push_back(float_pattern(x, y, z));
  return voxels;
}

// Slabs of up to `thickest` slices in an order of chance, written by four threads.
inline void write_shuffled(VolumeWriter& writer, const VolumeGrid& grid, unsigned seed, unsigned thickest) {
  const std::vector<float> voxels = pattern_volume(grid);
  std::mt19937 random(seed);
  std::vector<std::pair<std::int64_t, std::int64_t>> slabs;
  for (std::int64_t z = 0; z < grid.nz; z = slabs.back().second)
    slabs.emplace_back(z, std::min<std::int64_t>(grid.nz, z + 1 + random() % thickest));
  std::shuffle(slabs.begin(), slabs.end(), random);
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < slabs.size(); i = next++)
        writer.write(slabs[i].first, slabs[i].second, voxels.data() + slabs[i].first * grid.nx * grid.ny);
    });
  for (std::thread& thread : threads) thread.join();
}

inline VolumeGrid odd_grid() { return {7, 5, 6, {-1.5, 2.25, 10.125}, {0.5, -0.25, 0.1}}; }

// Every row band of every frame, read alone, must hold the pattern.
inline void expect_pattern(const FrameSource& source) {
  for (std::int64_t f = 0; f < source.frames(); ++f)
    for (std::int64_t row0 = 0; row0 < source.rows(); ++row0)
      for (std::int64_t row1 = row0; row1 <= source.rows(); ++row1) {
        std::vector<float> band(static_cast<std::size_t>((row1 - row0) * source.columns()), -1);
        source.read(f, row0, row1, band.data());
        std::size_t at = 0;
        for (std::int64_t y = row0; y < row1; ++y)
          for (std::int64_t x = 0; x < source.columns(); ++x)
            ASSERT_EQ(band[at++], static_cast<float>(pattern(x, y, f))) << source.name(f) << " at " << x << ", " << y;
      }
}

inline void write_file(const fs::path& path, const std::string& bytes) {
  fs::remove(path);  // ext4 writes a file that was truncated to the disk at once: 6 ms instead of 20 us
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
inline std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// Every file below a folder, by name.
inline std::map<fs::path, std::string> files_below(const fs::path& folder) {
  std::map<fs::path, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder)] = read_file(entry.path());
  return files;
}
template <class Pixel>
std::string bytes_of(const std::vector<Pixel>& pixels) {
  return {reinterpret_cast<const char*>(pixels.data()), pixels.size() * sizeof(Pixel)};
}

// The error that `action` throws; fails the test where there is none.
inline std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}
#define EXPECT_LEPUS_ERROR(action, expected_kind, part)                   \
  do {                                                                    \
    const auto caught = ::lepus::test::error_of([&] { (void)(action); }); \
    ASSERT_TRUE(caught.has_value()) << "no error from " #action;          \
    EXPECT_EQ(caught->kind(), (expected_kind)) << caught->what();         \
    EXPECT_NE(std::string(caught->what()).find(part), std::string::npos)  \
        << "'" << (part) << "' is not in: " << caught->what();            \
  } while (false)

inline bool have(const std::string& ending) {
  for (const VolumeFormat& format : volume_formats())
    if (format.ending == ending) return format.available;
  return false;
}

}  // namespace lepus::test

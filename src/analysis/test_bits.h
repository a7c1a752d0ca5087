// SPDX-License-Identifier: Apache-2.0
// For tests: volumes of bits from a rule or from noise, and a context to work in.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <vector>

#include "analysis/bit_volume.h"

namespace lepus::analysis {

struct TestContext {
  explicit TestContext(int thread_count = 2, std::int64_t limit_bytes = std::int64_t{1} << 30)
      : threads(thread_count), memory(limit_bytes, std::filesystem::temp_directory_path()) {}
  ThreadPool threads;
  CancelFlag cancel;
  Progress progress;
  WorkMemory memory;
  Context context{threads, cancel, progress};
};

using Bytes = std::vector<std::uint8_t>;  // x fastest, 0 or 1

inline void fill_bits(BitVolume& bits, const Bytes& bytes) {
  const VolumeSize& size = bits.size();
  std::vector<Word> words(static_cast<std::size_t>(bits.slice_words()));
  for (std::int64_t z = 0; z < size.nz; ++z) {
    std::fill(words.begin(), words.end(), Word{0});
    for (std::int64_t y = 0; y < size.ny; ++y)
      for (std::int64_t x = 0; x < size.nx; ++x)
        if (bytes[static_cast<std::size_t>((z * size.ny + y) * size.nx + x)] != 0)
          set_bits(words.data() + y * bits.row_words(), x, x + 1);
    bits.write(z, words.data());
  }
}

inline Bytes bytes_of(const BitVolume& bits) {
  const VolumeSize& size = bits.size();
  Bytes bytes;
  std::vector<Word> words(static_cast<std::size_t>(bits.slice_words()));
  for (std::int64_t z = 0; z < size.nz; ++z) {
    const Word* const slice = bits.slice(z, words.data());
    for (std::int64_t y = 0; y < size.ny; ++y)
      for (std::int64_t x = 0; x < size.nx; ++x) bytes.push_back(bit_at(slice + y * bits.row_words(), x) ? 1 : 0);
  }
  return bytes;
}

inline Bytes noise_bytes(const VolumeSize& size, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution one(share);
  Bytes bytes(static_cast<std::size_t>(size.voxels()));
  for (auto& byte : bytes) byte = one(random) ? 1 : 0;
  return bytes;
}

// Balls that overlap: what pores look like.
inline Bytes ball_bytes(const VolumeSize& size, int balls, double largest_radius, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Bytes bytes(static_cast<std::size_t>(size.voxels()));
  for (int b = 0; b < balls; ++b) {
    const double x = uniform(random) * static_cast<double>(size.nx), y = uniform(random) * static_cast<double>(size.ny),
                 z = uniform(random) * static_cast<double>(size.nz), r = (0.3 + 0.7 * uniform(random)) * largest_radius;
    for (std::int64_t k = std::max<std::int64_t>(0, static_cast<std::int64_t>(z - r));
         k < size.nz && static_cast<double>(k) <= z + r; ++k)
      for (std::int64_t j = std::max<std::int64_t>(0, static_cast<std::int64_t>(y - r));
           j < size.ny && static_cast<double>(j) <= y + r; ++j)
        for (std::int64_t i = std::max<std::int64_t>(0, static_cast<std::int64_t>(x - r));
             i < size.nx && static_cast<double>(i) <= x + r; ++i) {
          const double dx = static_cast<double>(i) - x, dy = static_cast<double>(j) - y,
                       dz = static_cast<double>(k) - z;
          if (dx * dx + dy * dy + dz * dz <= r * r)
            bytes[static_cast<std::size_t>((k * size.ny + j) * size.nx + i)] = 1;
        }
  }
  return bytes;
}

}  // namespace lepus::analysis

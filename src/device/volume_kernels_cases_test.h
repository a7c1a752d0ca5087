// SPDX-License-Identifier: Apache-2.0
// For tests of every device: volumes of bits, and what morphology and distances are by their definition.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "device/device.h"
#include "device/volume_kernels.h"

namespace lepus::volume_kernels_test {

using Words = std::vector<std::uint32_t>;

inline BitShape shape_of(std::int64_t nx, std::int64_t ny, std::int64_t nz, std::int64_t more_words = 0) {
  return {nx, ny, nz, (nx + 31) / 32 + more_words};
}

inline bool one_at(const Words& bits, const BitShape& s, std::int64_t x, std::int64_t y, std::int64_t z) {
  return (bits[static_cast<std::size_t>((z * s.ny + y) * s.row_words + x / 32)] >> (x % 32) & 1) != 0;
}

inline Words random_bits(const BitShape& s, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution one(share);
  Words bits(static_cast<std::size_t>(s.words()), 0);
  for (std::int64_t row = 0; row < s.ny * s.nz; ++row)
    for (std::int64_t x = 0; x < s.nx; ++x)
      if (one(random)) bits[static_cast<std::size_t>(row * s.row_words + x / 32)] |= std::uint32_t{1} << (x % 32);
  return bits;
}

// Whether a voxel within the radius has this value.
inline bool meets(const Words& bits, const BitShape& s, double radius, bool value, std::int64_t x, std::int64_t y,
                  std::int64_t z) {
  const auto r = static_cast<std::int64_t>(radius);
  for (std::int64_t k = z - r; k <= z + r; ++k)
    for (std::int64_t j = y - r; j <= y + r; ++j)
      for (std::int64_t i = x - r; i <= x + r; ++i)
        if (i >= 0 && j >= 0 && k >= 0 && i < s.nx && j < s.ny && k < s.nz &&
            static_cast<double>((i - x) * (i - x) + (j - y) * (j - y) + (k - z) * (k - z)) <= radius * radius + 1e-9 &&
            one_at(bits, s, i, j, k) == value)
          return true;
  return false;
}

struct Results {
  Words dilated, eroded;
  std::vector<std::int32_t> distances;
  friend bool operator==(const Results&, const Results&) = default;
};

inline Results run_on(Device& device, const Words& bits, const BitShape& s, double radius) {
  const auto queue = device.make_queue();
  VolumeKernels& kernels = *device.volume_kernels();
  const std::int64_t bytes = s.words() * 4;
  const Block in = device.allocate(bytes), out = device.allocate(bytes), far = device.allocate(s.voxels() * 4);
  const auto words = [](const Block& b) { return reinterpret_cast<std::uint32_t*>(b.get()); };
  Results r{bits, bits, std::vector<std::int32_t>(static_cast<std::size_t>(s.voxels()))};
  device.copy(in.get(), bits.data(), bytes, *queue);
  kernels.dilate(words(in), words(out), s, radius, *queue);
  device.copy(r.dilated.data(), out.get(), bytes, *queue);
  kernels.erode(words(in), words(out), s, radius, *queue);
  device.copy(r.eroded.data(), out.get(), bytes, *queue);
  kernels.squared_distances(words(in), reinterpret_cast<std::int32_t*>(far.get()), s, *queue);
  device.copy(r.distances.data(), far.get(), s.voxels() * 4, *queue);
  queue->wait();
  return r;
}

}  // namespace lepus::volume_kernels_test

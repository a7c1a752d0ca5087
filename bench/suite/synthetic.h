// SPDX-License-Identifier: Apache-2.0
// The problem that backprojections are measured on: synthetic filtered views that host and device compute alike, a
// C-arm (source-axis 750 mm, source-detector 1200 mm, detector 399 mm wide) around a cube of 256 mm, and the definition
// in double precision at some thousand voxels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/threads.h"
#include "project/host_device.h"
#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus::bench {

// Arcs of a parabola, up and down, of 1024 steps each: whole numbers, so that every machine gets the same bits.
LEPUS_HD inline int wave(unsigned phase) {
  const int p = static_cast<int>(phase & 1023u), arc = p * (1024 - p);
  return (phase & 1024u) != 0 ? -arc : arc;
}
// A filtered view as it may look: waves of 30 to 60 pixels across and along the rows, and some noise of its own.
LEPUS_HD inline float synthetic_pixel(unsigned view, unsigned column, unsigned row) {
  unsigned h = view * 0x9e3779b9u ^ column * 0x85ebca6bu ^ row * 0xc2b2ae35u;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  const int noise = static_cast<int>(h >> 16) - 32768;
  const int value = wave(column * 47u + view * 19u) + wave(row * 67u + column * 3u + view * 5u) / 2 + noise;
  return static_cast<float>(value) * (1.0f / 262144.0f);
}

enum class Orbit {
  circular,
  general,  // every view's source and detector a little off, as on a real C-arm
};
// A full turn of `views` views.
CircularScan c_arm_scan(std::int64_t columns, std::int64_t rows, std::int64_t views, Orbit orbit = Orbit::circular);
VolumeGrid cube_of_256_mm(std::int64_t size);

struct Sample {
  std::int64_t x, y, z;
  double expected;
};
std::vector<Sample> reference_samples(const ScanGeometry& geometry, const VolumeGrid& grid, Interpolation interpolation,
                                      std::int64_t count, ThreadPool& threads);

// Of all pairs of voxel and view the share that falls on the detector (linear interpolation: less than a pixel beside
// it): GUPS count all pairs, but only these need a sample. From 24^3 places spread evenly over the grid.
double share_seen(const ScanGeometry& geometry, const VolumeGrid& grid, ThreadPool& threads);
std::string seen_text(double share);  // "74 % of the pairs hit the detector"

// Both over the largest expected value; a voxel that is not finite makes them infinite.
struct SampleErrors {
  double rms = 0, largest = 0;
};
SampleErrors errors_of(const std::vector<Sample>& samples, const std::function<float(const Sample&)>& value);

// Largest errors that count as right: three times what was measured. exact: 1.3e-6 and 6e-6 (single-precision
// coordinates, on views with noise in every pixel). The texture unit's weights of 8 bits: 2.7e-5 and 1e-4; with fp16
// texels 3.3e-5 and 1.3e-4.
inline constexpr SampleErrors exact_limits{4e-6, 1.5e-5}, texture_limits{1e-4, 4e-4};

}  // namespace lepus::bench

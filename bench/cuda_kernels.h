// SPDX-License-Identifier: Apache-2.0
// What lepus_bench_cuda_backprojection needs beside the library: made-up views that host and device compute alike, and
// every shape of every kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/backproject_launch.h"
#include "backend/cuda/orbit_views.h"
#include "project/host_device.h"

namespace lepus::bench {

// Arcs of a parabola, up and down, of 1024 steps each: whole numbers, so that every machine gets the same bits.
LEPUS_HD inline int wave(unsigned phase) {
  const int p = static_cast<int>(phase & 1023u), arc = p * (1024 - p);
  return (phase & 1024u) != 0 ? -arc : arc;
}
// A filtered view as it may look: waves of 30 to 60 pixels across and along the rows, and some noise of its own.
LEPUS_HD inline float made_up_pixel(unsigned view, unsigned column, unsigned row) {
  unsigned h = view * 0x9e3779b9u ^ column * 0x85ebca6bu ^ row * 0xc2b2ae35u;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  const int noise = static_cast<int>(h >> 16) - 32768;
  const int value = wave(column * 47u + view * 19u) + wave(row * 67u + column * 3u + view * 5u) / 2 + noise;
  return static_cast<float>(value) * (1.0f / 262144.0f);
}

// Fills views[first, first + count) of an order: data[i][row][column] is view order[first + i].
void fill_views(float* data, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t count,
                std::int64_t columns, std::int64_t rows);

struct KernelShape {
  std::string name;  // "quad 16x16 K8"
  cuda::Launcher launcher;
};
// Every shape that reads this kind of texel.
std::vector<KernelShape> kernel_shapes(cuda::TexelKind kind);
std::vector<KernelShape> general_shapes();
std::vector<KernelShape> pair_shapes();
std::vector<KernelShape> quad_shapes();
std::vector<KernelShape> exact_shapes();

}  // namespace lepus::bench

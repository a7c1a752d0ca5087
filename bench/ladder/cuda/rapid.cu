// SPDX-License-Identifier: Apache-2.0
// What Papenhausen and Mueller (Rapid Rabbit, IEEE MIC 2013) added to kernel B, each step with those before it:
//   w' = rsqrt(w w) = 1/w by one instruction of the special function unit, its square the weight, one bilinear fetch
//   per update: 1.01 s at 512^3;
//   a volume turned at 45 degrees: a warp's lanes lie along x, and where the rays run along y its samples lie furthest
//   apart; for those views the volume is kept with y fastest, and turned where the sweep passes 45 degrees: 0.967 s;
//   (a copying thread: pipelines.cpp: 0.951 s;)
//   atomic accumulation: the sum is sent to the memory, which adds it itself; the thread does not wait to read: 0.921
//   s.
#include <cmath>
#include <utility>
#include <vector>

#include "bench/ladder/cuda/kernel_b.cuh"

namespace lepus::ladder {
namespace {

struct InverseRoot {
  __device__ static float of(float w) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(w * w));
    return r;
  }
};
struct AtomicAdd {
  __device__ static void add(float* voxel, float sum) { atomicAdd(voxel, sum); }
};

constexpr int tile = 32, tile_rows = 8;

// Slice by slice, x and y change places: a block takes the tile at (a, b) and the one at (b, a).
__global__ void turn_kernel(float* volume, int size) {
  if (blockIdx.x < blockIdx.y) return;
  __shared__ float upper[tile][tile + 1], lower[tile][tile + 1];
  const int ax = static_cast<int>(blockIdx.x) * tile, ay = static_cast<int>(blockIdx.y) * tile;
  float* const slice = volume + voxel_at(size, 0, 0, static_cast<int>(blockIdx.z));
  const int x = static_cast<int>(threadIdx.x);
  for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_rows) {
    if (ax + x < size && ay + y < size) upper[y][x] = slice[static_cast<std::int64_t>(ay + y) * size + ax + x];
    if (ay + x < size && ax + y < size) lower[y][x] = slice[static_cast<std::int64_t>(ax + y) * size + ay + x];
  }
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_rows) {
    if (ax + x < size && ay + y < size) slice[static_cast<std::int64_t>(ay + y) * size + ax + x] = lower[x][y];
    if (ay + x < size && ax + y < size) slice[static_cast<std::int64_t>(ax + y) * size + ay + x] = upper[x][y];
  }
}

void turn(const Launch& launch) {
  const unsigned tiles = blocks_of(launch.size, tile);
  turn_kernel<<<dim3(tiles, tiles, launch.size), dim3(tile, tile_rows), 0, launch.stream>>>(launch.volume, launch.size);
  cuda::check_launch("the turn of the volume");
  *launch.turned = !*launch.turned;
}

// Do neighbours along y lie closer together on the detector than neighbours along x? In the middle of the volume.
bool wants_turn(const Matrix& m, int size) {
  const float c = 0.5f * static_cast<float>(size - 1);
  const auto at = [&](const float* row) { return row[0] * c + row[1] * c + row[2] * c + row[3]; };
  const float u = at(m.u) / at(m.w);
  return std::abs(m.u[1] - u * m.w[1]) < std::abs(m.u[0] - u * m.w[0]);
}

// Runs of views that want the volume the same way; for a turned volume x and y of the matrices change places.
template <class Update>
void launch_turned(const Launch& launch) {
  for (int first = 0; first < launch.views;) {
    const bool turned = wants_turn(launch.matrices[first], launch.size);
    int last = first;
    std::vector<Matrix> run;
    for (; last < launch.views && wants_turn(launch.matrices[last], launch.size) == turned; ++last) {
      run.push_back(launch.matrices[last]);
      for (float* row : {run.back().u, run.back().v, run.back().w})
        if (turned) std::swap(row[0], row[1]);
    }
    if (turned != *launch.turned) turn(launch);
    Launch part = launch;
    part.matrices = run.data();
    part.first_slot += first;
    part.views = last - first;
    launch_kernel_b<usual_b.voxels, InverseRoot, Update>(part, usual_b);
    first = last;
  }
}

}  // namespace

void launch_rsqrt(const Launch& launch) { launch_kernel_b<usual_b.voxels, InverseRoot>(launch, usual_b); }
void launch_transposed(const Launch& launch) { launch_turned<ReadAndWrite>(launch); }
void launch_atomic(const Launch& launch) { launch_turned<AtomicAdd>(launch); }
void turn_back(const Launch& launch) {
  if (*launch.turned) turn(launch);
}

}  // namespace lepus::ladder

// SPDX-License-Identifier: Apache-2.0
// RabbitCT's problem in memory: views of a C-arm's sweep with irregular matrices, or of a full circle where a kernel
// needs its symmetry, and what the volume must be at sampled voxels, in double precision.
// The pictures are synthetic (a blob that all views see, slow waves, noise in every pixel): as smooth as filtered views
// are, quickly made, and no tap can be wrong unnoticed. Pixels: [view][row][column], fp32.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/threads.h"
#include "bench/ladder/matrix.h"
#include <lepus/geometry.h>

namespace lepus::ladder {

enum class Orbit { c_arm, circle };

struct Scene {
  ScanGeometry geometry;  // matrices from millimetres
  Buffer<float> pixels;
  double gradient = 0;   // rms change from a pixel to its right and lower neighbours, together
  double amplitude = 0;  // rms of the pixels
  float largest = 0;     // of |pixel|

  std::int64_t views() const { return geometry.views(); }
  std::int64_t view_pixels() const { return geometry.columns * geometry.rows; }
  const float* view(std::int64_t index) const { return pixels.data() + index * view_pixels(); }
};
Scene make_scene(Orbit orbit, std::int64_t views, std::int64_t columns, std::int64_t rows, ThreadPool& threads);

struct Problem {
  const Scene* scene = nullptr;
  std::int64_t size = 0;
  VolumeGrid grid;               // RabbitCT's: 256 mm in `size` steps
  std::vector<Matrix34> exact;   // from voxel indices
  std::vector<Matrix> matrices;  // the same in single precision

  double updates() const { return static_cast<double>(grid.voxels()) * static_cast<double>(scene->views()); }
};
// voxel_mm = 0: RabbitCT's. 1e-6: all voxels in one point, so that every fetch hits the same texels.
Problem make_problem(const Scene& scene, std::int64_t size, double voxel_mm = 0);

// What is summed: the picture's value, or (kernels whose fetch was taken out) u + v as the texture unit counts them.
enum class Summed { pixels, coordinates };

struct Truth {
  Summed summed = Summed::pixels;
  std::vector<std::int64_t> offsets;  // of the sampled voxels, x fastest
  std::vector<double> values;
  double largest = 0;  // of |values|
  double seen = 0;     // share of the updates whose samples lie in the picture
};
Truth make_truth(const Problem& problem, Summed summed, std::int64_t samples, ThreadPool& threads);

// The rms of the samples' errors over the largest value; not a number stays one.
double error_of(const Truth& truth, const std::vector<float>& sampled);

// How a kernel interpolates, and the largest error that is right for it. problem.cpp derives the limits.
enum class Weights { single, texture, texture_of_half };
double error_limit(const Problem& problem, const Truth& truth, Weights weights);

}  // namespace lepus::ladder

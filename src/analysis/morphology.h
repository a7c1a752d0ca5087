// SPDX-License-Identifier: Apache-2.0
// Morphology of volumes of bits, slab by slab with the slices around it that are needed. Everything is made of one
// dilation: eroding is dilating what is not there. Voxels outside the volume are neither there nor not there, as in
// scikit-image; SciPy's erosion takes them for not there.
// Ball: all voxels within the radius, by exact distances, so that its time hardly depends on the radius. Box: 2 radius
// + 1 voxels wide, 64 voxels at a time.
#pragma once

#include <string>
#include <vector>

#include "analysis/distance.h"
#include <lepus/geometry.h>

namespace lepus {
class Device;
}

namespace lepus::analysis {

// Lengths count in the shortest edge of a voxel: cubes have steps of 1 and integer distances.
struct VoxelShape {
  bool cubes = true;
  SquaredSteps<double> steps;
  double edge_mm = 1;  // the shortest
};
VoxelShape shape_of(const VolumeGrid& grid);

enum class MorphologyKind { erode, dilate, open, close, fill_holes };

struct MorphologyStep {
  MorphologyKind kind = MorphologyKind::open;
  bool box = false;   // else a ball
  double radius = 0;  // in edges of a voxel; whole for a box
};
// "open:2", "close:1.5", "erode-box:1", "fill-holes". Throws Error(usage).
MorphologyStep parse_morphology(const std::string& text);

// With a device that has the kernels (device/volume_kernels.h), balls of up to largest_ball_radius in volumes of cubes
// are worked on there, slab by slab; the bits are the same.
void apply(const MorphologyStep& step, const VoxelShape& shape, BitVolume& bits, WorkMemory& memory, Context& context,
           Device* device = nullptr);

void complement(BitVolume& bits, Context& context);
void intersect(BitVolume& bits, const BitVolume& with, Context& context);  // bits & with

}  // namespace lepus::analysis

// SPDX-License-Identifier: Apache-2.0
// The kernels of Siddon's lengths and of footprints (project/siddon.h, project/footprint.h). Both operators take a
// pixel's ray as those headers make it; A' from a list of them, one for each pixel of a face.
#pragma once

#include "device/cuda/ray_projector_faces.h"
#include "device/cuda/ray_projector_launch.h"
#include "project/footprint.h"
#include "project/siddon.h"

namespace lepus::cuda {

struct alignas(16) SiddonPixel : SiddonRay<float> {};
struct alignas(16) FootprintPixel : FootprintRay<float> {};

// The volume as planes of linear memory.
template <class Pixel>
void launch_model_forward(const RaysOnDevice& rays, const PlanesOnDevice& volume, cudaStream_t stream);

// [face][row][column]: way_mm times the pixel's line integral, zero where the ray runs along another axis.
template <class Pixel>
void launch_model_pixels(const FaceSource& source, Pixel* pixels, cudaStream_t stream);

template <class Pixel>
struct ModelAdjoint {
  PictureFace face[pictures_per_launch];
  PictureFrame frame;
  const Pixel* pixels;
  int faces;
  JosephGrid grid;
  float* voxels;  // slices [z0, z1)
  int z0, z1;
};
template <class Pixel>
void launch_model_adjoint(const ModelAdjoint<Pixel>& job, cudaStream_t stream);

}  // namespace lepus::cuda

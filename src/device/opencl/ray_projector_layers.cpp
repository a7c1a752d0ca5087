// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/ray_projector_layers.h"

#include <array>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

// Width, height and layers of an axis' image. One that is not used has an image all the same: a kernel's argument
// cannot be left out.
std::array<std::int64_t, 3> image_size(const JosephGrid& grid, int axis, bool used, std::int64_t slices) {
  if (!used) return {1, 1, 1};
  return {grid.size[axis == 0 ? 1 : 0], axis == 2 ? grid.size[1] : slices, axis == 2 ? slices : grid.size[axis]};
}

}  // namespace

VolumeLayers::VolumeLayers(const Context& context, const JosephGrid& grid, const bool (&axes)[3], std::int64_t slices,
                           cl_command_queue queue)
    : grid_(grid), axes_{axes[0], axes[1], axes[2]}, slices_(slices) {
  const DeviceDescription& d = context.device();
  for (int axis = 0; axis < 3; ++axis) {
    const auto [width, height, layers] = image_size(grid, axis, axes[axis], slices);
    if (width > d.image_columns || height > d.image_rows || layers > d.image_layers)
      throw Error(ErrorKind::unsupported, {.what = "the volume is too large for an image of the device",
                                           .where = d.name,
                                           .why = format("{} x {} x {} voxels, at most {} x {} x {}", width, height,
                                                         layers, d.image_columns, d.image_rows, d.image_layers),
                                           .hint = "use the precision exact"});
    layers_[axis] = Layers(context, CL_FLOAT, width, height, layers, queue);
  }
}

bool VolumeLayers::fits(const JosephGrid& grid, const bool (&axes)[3], std::int64_t slices) const {
  for (int k = 0; k < 3; ++k)
    if (grid.size[k] != grid_.size[k] || (axes[k] && !axes_[k])) return false;
  return slices <= slices_;
}

std::int64_t VolumeLayers::bytes(const JosephGrid& grid, const bool (&axes)[3], std::int64_t slices) {
  std::int64_t sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto [width, height, layers] = image_size(grid, axis, axes[axis], slices);
    sum += Layers::bytes(CL_FLOAT, width, height, layers);
  }
  return sum;
}

}  // namespace lepus::opencl

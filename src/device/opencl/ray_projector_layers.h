// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "device/opencl/images.h"
#include "project/joseph.h"

namespace lepus::opencl {

// Slices of a volume as layers of images, one for each axis that rays run along.
class VolumeLayers {
public:
  // For at most so many slices. Throws Error(memory), Error(unsupported) where the volume is too large for an image.
  VolumeLayers(const Context& context, const JosephGrid& grid, const bool (&axes)[3], std::int64_t slices,
               cl_command_queue queue);
  bool fits(const JosephGrid& grid, const bool (&axes)[3], std::int64_t slices) const;
  static std::int64_t bytes(const JosephGrid& grid, const bool (&axes)[3], std::int64_t slices);
  std::int64_t slices() const { return slices_; }
  cl_mem on(int axis) const { return layers_[axis].get(); }

private:
  JosephGrid grid_;
  bool axes_[3];
  std::int64_t slices_;
  Layers layers_[3];
};

}  // namespace lepus::opencl

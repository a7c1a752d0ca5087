// SPDX-License-Identifier: Apache-2.0
// The surface of what is brighter than a threshold, as triangles: marching cubes, slice by slice, closed at the
// volume's ends too, so that it encloses a body. In: a volume of any size; out: vertices and triangles, in order.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/context.h"
#include "io/volume_file.h"
#include <lepus/convert.h>

namespace lepus::analysis {

struct SurfaceOptions {
  double threshold = 0;                            // inside is above it; NaN is outside
  std::optional<std::array<std::int64_t, 6>> box;  // x0, x1, y0, y1, z0, z1: only these voxels; the rest is outside
};

// Vertices are numbered from 0 in the order in which they come; a triangle names three that came, counter-clockwise
// seen from outside. No two vertices lie in one place.
class SurfaceSink {
public:
  virtual ~SurfaceSink() = default;
  virtual void vertex(const std::array<float, 3>& mm) = 0;
  virtual void triangle(const std::array<std::int64_t, 3>& numbers,
                        const std::array<std::array<float, 3>, 3>& corners) = 0;
};

// Throws Error(input) where no voxel is above the threshold.
SurfaceReport extract_surface(const VolumeReader& volume, const SurfaceOptions& options, SurfaceSink& sink,
                              Context& context);

// Into a binary STL or PLY file, by the ending of its name; Error(unsupported) for others.
SurfaceReport write_surface(const VolumeReader& volume, const SurfaceOptions& options,
                            const std::filesystem::path& path, bool force, Context& context);

}  // namespace lepus::analysis

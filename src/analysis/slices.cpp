// SPDX-License-Identifier: Apache-2.0
#include "analysis/slices.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/memory.h"

namespace lepus {
namespace {

double component(Vec3 v, Axis axis) { return axis == Axis::x ? v.x : axis == Axis::y ? v.y : v.z; }

Slice empty_slice(const VolumeGrid& grid, SliceRequest request) {
  const Axis across = request.axis;
  const Axis right = across == Axis::x ? Axis::y : Axis::x, up = across == Axis::z ? Axis::y : Axis::z;
  Slice slice;
  slice.request = request;
  slice.position_mm =
      component(grid.origin_mm, across) + static_cast<double>(request.index) * component(grid.step_mm, across);
  slice.width = voxels_along(grid, right);
  slice.height = voxels_along(grid, up);
  slice.pixel_width_mm = std::abs(component(grid.step_mm, right));
  slice.pixel_height_mm = std::abs(component(grid.step_mm, up));
  slice.values.resize(static_cast<std::size_t>(slice.width * slice.height));
  return slice;
}

// Where voxel (right, up) of a slice is drawn: to the right and up in millimetres, so that an axis with negative steps
// is turned round.
struct Placement {
  std::int64_t width, height;
  bool flip_right, flip_up;

  std::size_t operator()(std::int64_t right, std::int64_t up) const {
    const std::int64_t column = flip_right ? width - 1 - right : right;
    const std::int64_t row = flip_up ? up : height - 1 - up;
    return static_cast<std::size_t>(row * width + column);
  }
};

// Copies what voxel slices [z0, z1) hold of one slice.
void fill(Slice& slice, const VolumeGrid& grid, std::int64_t z0, std::int64_t z1, const float* slab) {
  const std::int64_t index = slice.request.index, plane = grid.nx * grid.ny;
  const bool flip_z = grid.step_mm.z < 0, flip_y = grid.step_mm.y < 0, flip_x = grid.step_mm.x < 0;
  if (slice.request.axis == Axis::z) {
    if (index < z0 || index >= z1) return;
    const Placement place{slice.width, slice.height, flip_x, flip_y};
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x)
        slice.values[place(x, y)] = slab[(index - z0) * plane + y * grid.nx + x];
    return;
  }
  const bool across_y = slice.request.axis == Axis::y;
  const Placement place{slice.width, slice.height, across_y ? flip_x : flip_y, flip_z};
  for (std::int64_t z = z0; z < z1; ++z)
    for (std::int64_t t = 0; t < slice.width; ++t) {
      const std::int64_t at = across_y ? index * grid.nx + t : t * grid.nx + index;
      slice.values[place(t, z)] = slab[(z - z0) * plane + at];
    }
}

}  // namespace

char letter(Axis axis) { return axis == Axis::x ? 'x' : axis == Axis::y ? 'y' : 'z'; }

const char* Slice::right() const { return request.axis == Axis::x ? "y" : "x"; }
const char* Slice::up() const { return request.axis == Axis::z ? "y" : "z"; }

std::int64_t voxels_along(const VolumeGrid& grid, Axis axis) {
  return axis == Axis::x ? grid.nx : axis == Axis::y ? grid.ny : grid.nz;
}

std::int64_t index_at(const VolumeGrid& grid, Axis axis, double position_mm) {
  const double origin = component(grid.origin_mm, axis), step = component(grid.step_mm, axis);
  const double index = std::floor((position_mm - origin) / step + 0.5);
  const auto last = static_cast<double>(voxels_along(grid, axis) - 1);
  if (!(index >= 0 && index <= last))
    throw Error(ErrorKind::usage, {.what = format("{} = {:g} mm lies outside the volume", letter(axis), position_mm),
                                   .where = {},
                                   .why = format("its voxels go from {:g} to {:g} mm", origin, origin + last * step),
                                   .hint = "give a position between them"});
  return static_cast<std::int64_t>(index);
}

std::vector<SliceRequest> middle_slices(const VolumeGrid& grid) {
  return {{Axis::z, grid.nz / 2}, {Axis::y, grid.ny / 2}, {Axis::x, grid.nx / 2}};
}

std::vector<Slice> extract_slices(const VolumeReader& volume, const std::vector<SliceRequest>& requests,
                                  std::int64_t memory_bytes, Context& context) {
  const VolumeGrid& grid = volume.grid();
  std::vector<Slice> slices;
  bool all = false;
  for (const auto& request : requests) {
    const std::int64_t count = voxels_along(grid, request.axis);
    if (request.index < 0 || request.index >= count)
      throw Error(ErrorKind::usage,
                  {.what = format("there is no slice {} across {}", request.index, letter(request.axis)),
                   .where = {},
                   .why = format("the volume has {} of them, counted from 0", count),
                   .hint = format("give an index from 0 to {}", count - 1)});
    slices.push_back(empty_slice(grid, request));
    all = all || request.axis != Axis::z;
  }
  const std::int64_t plane = grid.nx * grid.ny;
  const std::int64_t fits = std::max<std::int64_t>(1, memory_bytes / (4 * plane));
  const std::int64_t slab = std::min(grid.nz, std::clamp<std::int64_t>((std::int64_t{1} << 23) / plane, 1, fits));
  Buffer<float> voxels(slab * plane);
  if (all) {
    context.progress.begin("reading slices", grid.nz);
    for (std::int64_t z0 = 0; z0 < grid.nz; z0 += slab) {
      context.cancel.check();
      const std::int64_t z1 = std::min(grid.nz, z0 + slab);
      volume.read(z0, z1, voxels.data());
      for (Slice& slice : slices) fill(slice, grid, z0, z1, voxels.data());
      context.progress.advance(z1 - z0);
    }
    context.progress.end();
    return slices;
  }
  for (Slice& slice : slices) {
    context.cancel.check();
    const std::int64_t z = slice.request.index;
    volume.read(z, z + 1, voxels.data());
    fill(slice, grid, z, z + 1, voxels.data());
  }
  return slices;
}

Slice difference(const Slice& a, const Slice& b) {
  Slice result = a;
  for (std::size_t i = 0; i < a.values.size(); ++i) result.values[i] = b.values[i] - a.values[i];
  return result;
}

}  // namespace lepus

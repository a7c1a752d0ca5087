// SPDX-License-Identifier: Apache-2.0
// Filtered views to voxels on a device: slab += sum over views of sample(u, v) / w^2 (Feldkamp, Davis and Kress 1984).
// How views and slabs lie in its memory is the device's own affair (z fastest, textures, images): stores hold them.
// A voxel's sum runs over the views in view_order(), in blocks counted from its start, and its coordinates come from
// its place in the volume: any cut into slabs, and into wedges of whole blocks, gives the same bits on one kind of
// device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "geometry/row_band.h"
#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus {

class Queue;

// Slices [z0, z1) of the volume.
struct SlabRange {
  std::int64_t z0 = 0, z1 = 0;
  std::int64_t slices() const { return z1 - z0; }
};

// Voxels [x0, x1) x [y0, y1) x [z0, z1).
struct VoxelBox {
  std::int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0, z0 = 0, z1 = 0;
  std::int64_t voxels() const { return (x1 - x0) * (y1 - y0) * (z1 - z0); }
};

// Where slabs are cut; the result does not depend on it, but is cheapest so.
inline constexpr std::int64_t slab_alignment = 16;

// Rows of a view that the interpolation needs beyond the pixel a coordinate falls into, on each side.
constexpr std::int64_t interpolation_margin(Interpolation i) { return i == Interpolation::cubic ? 2 : 1; }

// The first row of a window that always holds `held` rows (at most all) and now needs these: no row of it lies beyond
// the detector, so that what is undefined in it belongs to rows that nothing reads.
inline std::int64_t first_held_row(RowBand needed, std::int64_t held, std::int64_t detector_rows) {
  return std::min(needed.first, detector_rows - held);
}

// Filtered rows of views, one view per slot, each with a window of detector rows.
class ViewStore {
public:
  virtual ~ViewStore() = default;
  // About the largest magnitude that will be put: fp16 texels are scaled for it. Before anything is put.
  virtual void set_largest_value(float) {}
  // The slot holds these rows from now on; those that it held before stay with Keep::rows, the others are undefined
  // until they are put.
  enum class Keep { nothing, rows };
  virtual void set_window(std::int64_t slot, RowBand rows, Keep keep) = 0;
  // Rows of the views in slots [first_slot, first_slot + slots): filtered[(slot - first_slot) * view_stride + (row -
  // rows.first) * columns + column], in the device's memory.
  virtual void put(const float* filtered, std::int64_t view_stride, std::int64_t first_slot, std::int64_t slots,
                   RowBand rows, Queue& queue) = 0;
};

// A slab while it is summed and on its way to the host.
class SlabStore {
public:
  virtual ~SlabStore() = default;
  virtual void begin(SlabRange slab, Queue& queue) = 0;  // all zero
  virtual void finish(Queue& queue) = 0;                 // voxels beyond the cylinder become zero
  // Whole slices or a box of the slab, x fastest, into memory of the host.
  virtual void download(std::int64_t z0, std::int64_t z1, float* slices, Queue& queue) = 0;
  virtual void download(const VoxelBox& box, float* voxels, Queue& queue) = 0;
};

struct ProjectorSetup {
  const ScanGeometry* geometry = nullptr;  // of the filtered views
  VolumeGrid grid;
  double cylinder_mm = 0;  // voxels farther from the axis are zero in the end
  Interpolation interpolation = Interpolation::linear;
  // Symmetric views may share a texel: stores of such a projector serve no other. Views that come one by one must not.
  bool views_share_texels = true;
};

class Projector {
public:
  virtual ~Projector() = default;
  virtual std::string description() const = 0;  // the kernel that runs: "circular orbit, 4 symmetric views, AVX-512"
  virtual const std::vector<std::int64_t>& view_order() const = 0;
  virtual std::int64_t view_block() const = 0;  // wedges start at multiples of this, and end there or at the last view
  // Views that one call of back() should be given so that progress is seen; the sums do not depend on it.
  virtual std::int64_t views_at_once() const = 0;
  virtual bool rows_alike() const = 0;            // all views of a wedge want the same window, of whole pairs of rows
  virtual double updates_per_second() const = 0;  // about, of voxels, for the plan
  virtual std::int64_t bytes_per_value() const = 0;  // of a filtered pixel in a store

  virtual std::unique_ptr<ViewStore> make_view_store(std::int64_t slots, std::int64_t rows) const = 0;
  virtual std::unique_ptr<SlabStore> make_slab_store(std::int64_t slices) const = 0;

  // Adds views [first, first + views) of view_order(), which lie in slots [first_slot, ...), to slices of the slab.
  struct Wedge {
    const ViewStore* store = nullptr;
    std::int64_t first_slot = 0, first = 0, views = 0;
    const std::vector<std::int64_t>* slots = nullptr;  // of each of them, where they lie otherwise
  };
  virtual void back(const Wedge& wedge, SlabStore& slab, SlabRange slices, Queue& queue) const = 0;
};

}  // namespace lepus

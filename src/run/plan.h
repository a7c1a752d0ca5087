// SPDX-License-Identifier: Apache-2.0
// How a reconstruction is cut so that it fits the memory it was given. Slabs of slices are made one after another along
// z; each needs a band of detector rows of every view. Two plans:
//   rolling window: the bands of all views stay in memory, every row is read and filtered once;
//   streamed views: a large slab stays in memory, the views pass by in wedges, rows that slabs share are read again.
// The cheaper one that fits is taken. The volume is the same, bit for bit, whatever the plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/backend.h"
#include "geometry/row_band.h"

namespace lepus {

enum class PlanKind { rolling_window, streamed_views };

// What this machine does per second; the planner only needs the ratios, the estimate of time needs the figures.
struct MachineSpeed {
  double updates = 4e8;          // voxel updates of a tall slab, all threads
  double filtered_pixels = 6e7;  // read from cache, corrected, weighted and filtered, all threads
  double disk_bytes = 5e8;
};

struct PlanRequest {
  const ScanGeometry* geometry = nullptr;
  VolumeGrid grid;
  double cylinder_mm = 0;  // voxels farther from the axis are not reconstructed
  Interpolation interpolation = Interpolation::linear;
  std::int64_t view_block = 1;    // Backprojector::view_block()
  std::int64_t memory_bytes = 0;  // the limit for the whole process
  std::int64_t fixed_bytes = 0;   // what is taken whatever the plan: program, flats and darks, scratch of the threads
  std::int64_t frame_pixel_bytes = 2;
  MachineSpeed speed;
};

struct SlabRange {
  std::int64_t z0, z1;
};

struct Plan {
  PlanKind kind = PlanKind::rolling_window;
  std::vector<SlabRange> slabs;  // in order, without gaps
  std::int64_t slab_slices = 0;  // of the largest slab; a multiple of slab_alignment, or all that there are
  int slab_buffers = 1;          // 2: one is written while the next is summed
  std::int64_t wedge_views = 0;  // views held at once: all of them in a rolling window
  std::int64_t row_stride = 0;   // rows kept per column of a view, the largest band and padding
  std::int64_t queue_bytes = 0;  // frames read ahead
  std::int64_t rows_read = 0;    // detector rows of all views, counted every time they are read
  std::int64_t rows_needed = 0;  // counted once
  std::int64_t bands_bytes = 0, slabs_bytes = 0, fixed_bytes = 0;
  std::int64_t memory_limit = 0;
  double updates = 0;  // voxels inside the cylinder x views
  double seconds = 0;  // expected

  std::int64_t memory_bytes() const { return bands_bytes + slabs_bytes + fixed_bytes + queue_bytes; }
};

// Row bands of every view for every group of slab_alignment slices; a slab's band is the union over its groups.
class BandTable {
public:
  BandTable(const PlanRequest& request);
  RowBand band(std::int64_t view, SlabRange slab) const;
  std::int64_t views() const { return views_; }

private:
  std::int64_t views_ = 0;
  std::vector<RowBand> bands_;  // [group][view]
};

// Throws Error(memory) with the least amount that would do where nothing fits.
Plan make_plan(const PlanRequest& request, const BandTable& bands);

// How much more an update costs in a slab of few slices than in a tall one: each column of voxels is prepared anew.
double slab_overhead(std::int64_t slices);

// What a reconstruction takes before and beside its work: the program's start, and files that are opened.
double opening_seconds(std::int64_t views);

// For people: what a machine that does other things too may need, "0.12 to 0.25 s".
std::string expected_time(double seconds);

// Voxel updates of all views inside a cylinder around the axis.
double updates_in_cylinder(const VolumeGrid& grid, double radius_mm, std::int64_t views);

const char* name_of(PlanKind kind);
std::string describe(const Plan& plan);  // a few lines for people

}  // namespace lepus

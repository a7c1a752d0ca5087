// SPDX-License-Identifier: Apache-2.0
// How a reconstruction is cut so that it fits the memory it was given. Slabs of slices are made one after another along
// z; each needs a band of detector rows of every view. Three plans:
//   rolling window: the bands of all views stay in memory, every row is read and filtered once;
//   resident views: on a device with memory of its own, the filtered rows of all views stay there; each is uploaded and
//     filtered once while the first slab is summed (or, by bands, when the first slab needs it). The better one where
//     frames come from a disk;
//   streamed views: a large slab stays in memory, the views pass by in wedges, rows that slabs share are read, or
//     uploaded, and filtered again; that costs nothing where frames lie in memory and the link has time.
// The fastest one that fits is taken. The volume is the same, bit for bit, whatever the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/projector.h"
#include "geometry/row_band.h"
#include "run/slab_tickets.h"

namespace lepus {

enum class PlanKind { rolling_window, resident_views, streamed_views };

// What this machine does per second; the planner only needs the ratios, the estimate of time needs the figures. Those
// here are of one core of a Neoverse-V1.
struct MachineSpeed {
  double updates = 2e9;          // voxel updates of a tall slab, of whole tiles (summed_updates), all threads
  double filtered_pixels = 6e7;  // read from cache, corrected, weighted and filtered, all threads
  double disk_bytes = 5e8;
};

// Devices that have memory of their own.
struct PlanDevices {
  int workers = 1;                    // each sums slabs of its own
  int cards = 1;                      // that they share
  int workers_on_card = 1;            // at most; they share the views where all stay there
  std::int64_t memory_bytes = 0;      // the limit on each card
  std::int64_t fixed_bytes = 0;       // tables of the filter, flats and darks
  std::int64_t bytes_per_value = 4;   // Projector::bytes_per_value()
  std::int64_t recorded_columns = 0;  // of rows as they are uploaded
  bool by_bands = false;              // rows of all views come band after band as slabs need them, not view after view
  double source_bytes = 5.5e10;       // per second that frames are read with
  double updates_per_second = 1e12;
};

struct PlanRequest {
  const ScanGeometry* geometry = nullptr;  // of the filtered views
  VolumeGrid grid;
  double cylinder_mm = 0;  // voxels farther from the axis are not reconstructed
  Interpolation interpolation = Interpolation::linear;
  std::int64_t view_block = 1;    // Projector::view_block()
  std::int64_t memory_bytes = 0;  // the limit for the whole process
  std::int64_t fixed_bytes = 0;   // what is taken whatever the plan: program, flats and darks, scratch of the threads
  std::int64_t frame_pixel_bytes = 2;
  std::int64_t largest_slab = 0;       // slices at most; 0: as many as fit
  MachineSpeed speed;                  // of the host
  std::optional<PlanDevices> devices;  // none: the host computes
};

// What a plan takes in one memory.
struct PlanMemory {
  std::int64_t views = 0;  // filtered rows
  std::int64_t rows = 0;   // on their way: read ahead, uploaded, being filtered
  std::int64_t slabs = 0;
  std::int64_t fixed = 0;
  std::int64_t limit = 0;
  std::int64_t total() const { return views + rows + slabs + fixed; }
};

struct Plan {
  PlanKind kind = PlanKind::rolling_window;
  std::vector<SlabRange> slabs;     // in order, without gaps; of several devices, as they would cut them if alike
  std::int64_t slab_slices = 0;     // of the largest slab; a multiple of slab_alignment, or all that there are
  SlabSizes sizes;                  // how several devices share them
  int slab_buffers = 1;             // 2: one is downloaded and written while the next is summed
  std::int64_t wedge_views = 0;     // read and filtered at a time: all of them in a rolling window
  std::int64_t held_views = 0;      // slots of the store of views
  std::int64_t held_rows = 0;       // of each
  std::int64_t landing_slices = 0;  // downloaded at a time
  std::int64_t rows_read = 0;       // detector rows of all views, counted every time they are read
  std::int64_t rows_needed = 0;     // counted once
  std::int64_t uploaded_bytes = 0;  // of frames, in all
  PlanMemory host, device;          // device: of each card; its limit is 0 where the host computes
  double updates = 0;               // voxels inside the cylinder x views
  double seconds = 0;               // expected
  MachineSpeed speed;               // that it is expected with: of the host, or of one device

  bool on_host() const { return device.limit == 0; }
  const PlanMemory& memory() const { return on_host() ? host : device; }  // where it computes
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

// Rows that any of the views [first, last) of `order` needs for a slab, widened to whole pairs of rows, which are
// filtered together. Empty where none is needed.
RowBand rows_for(const BandTable& bands, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t last,
                 SlabRange slab, std::int64_t detector_rows);

// Throws Error(memory) with the smallest amount that would do where nothing fits.
Plan make_plan(const PlanRequest& request, const BandTable& bands);

// What a reconstruction takes before and beside its work: the program's start, and files that are opened.
double opening_seconds(std::int64_t views);

// Voxel updates of all views inside a cylinder around the axis.
double updates_in_cylinder(const VolumeGrid& grid, double radius_mm, std::int64_t views);
// Those that the host makes, which sums whole tiles of voxels: MachineSpeed counts these.
double summed_updates(const VolumeGrid& grid, double radius_mm, std::int64_t views);

const char* name_of(PlanKind kind);
std::string describe(const Plan& plan);  // a few lines for people

}  // namespace lepus

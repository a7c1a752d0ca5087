// SPDX-License-Identifier: Apache-2.0
// How a reconstruction is cut for a device with memory of its own. Two plans, as on the host:
//   resident views: the filtered rows of all views stay on the device, each is sent up and filtered once while the
//     first slab is summed (or, by bands, when the first slab needs it); later slabs only compute and come down. The
//     better one where frames come from a disk;
//   streamed views: the views pass by in wedges for each slab; rows that slabs share are sent up again, which costs
//     nothing where frames lie in memory, because the link has time while the device computes.
// The faster one that fits is taken. The volume is the same, bit for bit, whatever the plan.
#pragma once

#include <cstdint>
#include <vector>

#include "run/plan.h"
#include "run/slab_tickets.h"

namespace lepus {

struct DevicePlanRequest {
  VolumeGrid grid;
  std::int64_t wide_columns = 0;      // as they are filtered
  std::int64_t recorded_columns = 0;  // as they are sent up
  std::int64_t detector_rows = 0;
  std::int64_t view_block = 1;
  std::int64_t texel_bytes = 4;  // of one view's pixel, as it is held
  std::int64_t frame_pixel_bytes = 2;
  std::int64_t memory_bytes = 0;  // the limit on each card
  std::int64_t fixed_bytes = 0;   // tables of the filter
  std::int64_t host_bytes = 0;    // the limit for page-locked buffers on the host, of all devices
  int devices = 1;                // workers
  int cards = 1;                  // that they share
  int workers_on_card = 1;        // at most; they share the views where all stay there
  bool by_bands = false;          // rows of all views come band after band as slabs need them, not view after view
  double source_bytes = 5.5e10;   // per second that frames are read with
  double updates = 0, updates_per_second = 1e12;
};

struct DevicePlan {
  bool resident = true;
  std::vector<SlabRange> slabs;  // as devices of the same speed would cut them
  std::int64_t slab_slices = 0;  // at most
  SlabSizes sizes;
  std::int64_t wedge_views = 0;  // sent up and filtered at a time
  std::int64_t held_rows = 0;    // per view
  std::int64_t held_views = 0;
  std::int64_t landing_slices = 0;  // that come down into one page-locked buffer
  // On a card, of all its workers.
  std::int64_t store_bytes = 0, wedge_bytes = 0, slabs_bytes = 0, fixed_bytes = 0, memory_limit = 0;
  std::int64_t staging_bytes =
      0;                        // on the host, of all workers, for frames on their way up and slices on their way down
  std::int64_t sent_bytes = 0;  // of frames, in all
  int slab_buffers = 1;
  double seconds = 0;  // expected

  // On a card.
  std::int64_t memory_bytes() const { return store_bytes + wedge_bytes + slabs_bytes + fixed_bytes; }
};

// Rows that any of the views [first, last) of `order` needs for a slab, widened to whole pairs of rows, which are
// filtered together. Empty where none is needed.
RowBand rows_for(const BandTable& bands, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t last,
                 SlabRange slab, std::int64_t detector_rows);

// Throws Error(memory) with the least amount that would do where nothing fits.
DevicePlan make_device_plan(const DevicePlanRequest& request, const BandTable& bands);

std::string describe(const DevicePlan& plan);

}  // namespace lepus

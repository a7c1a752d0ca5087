// SPDX-License-Identifier: Apache-2.0
// The sweep along z: slab after slab, rows are read ahead, filtered into the band store, backprojected, and finished
// slabs are written while the next one is summed. Both plans are this one loop: a rolling window is a single wedge of
// all views that keeps its rows from slab to slab.
#pragma once

#include <cstdint>

#include "device/backend.h"
#include "core/context.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "run/row_filter.h"
#include "run/plan.h"

namespace lepus {

struct SweepParts {
  const Plan* plan = nullptr;
  const BandTable* bands = nullptr;
  const FrameSource* frames = nullptr;
  const RowFilter* filter = nullptr;
  const Backprojector* backprojector = nullptr;
  const ScanGeometry* geometry = nullptr;
  VolumeGrid grid;
  double cylinder_mm = 0;
  VolumeWriter* writer = nullptr;
};

struct SweepTimes {
  double filter_s = 0;  // waiting for rows, correcting and filtering them
  double backproject_s = 0;
  double write_wait_s = 0;  // waiting for the writer
};

SweepTimes sweep(const SweepParts& parts, Context& context);

}  // namespace lepus

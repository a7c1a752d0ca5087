// SPDX-License-Identifier: Apache-2.0
// How an operator's work is cut for a device whose memory does not hold all of it. Forward: chunks of detector rows,
// each with the slices that its rays meet, and wedges of views that pass by while these stay. Back: slabs of slices,
// and wedges of views with the rows that the slab is seen in. The fewest chunks that fit, since neighbours share slices
// or rows, which are then brought twice.
#pragma once

#include <cstdint>
#include <vector>

#include "device/ray_projector.h"
#include "operators/pieces.h"

namespace lepus {

// Rows of all views with the slices they need, or slices with the rows.
struct OperatorChunk {
  RowBand rows;
  SlabRange slices;
};

struct OperatorPlan {
  std::vector<OperatorChunk> chunks;
  std::vector<ViewRange> wedges;
  std::int64_t bytes = 0;     // on a device, while it works on the largest chunk
  bool volume_there = false;  // kernels use the volume where it lies, and no copies of its slices
};

struct OperatorSizes {
  const ScanGeometry& geometry;
  const VolumeGrid& grid;
  const SliceRows& pieces;
  const RayProjector& projector;
  std::int64_t device_bytes;  // limit on each device
  std::int64_t workers;       // devices that share the chunks
  bool on_host = false;       // the limit is one of the host's memory
  bool volume_there = false;  // the whole volume lies on the device already, and is no part of the limit
};

// Throw Error(memory) where not even one row or slice with one view fits.
OperatorPlan plan_forward(const OperatorSizes& sizes);
OperatorPlan plan_adjoint(const OperatorSizes& sizes);

}  // namespace lepus

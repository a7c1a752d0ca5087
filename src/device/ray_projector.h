// SPDX-License-Identifier: Apache-2.0
// A scan's operator A and its transpose on one device, for pieces of work that are independent of each other: forward
// takes rows of some views and the slices that their rays meet, adjoint takes a slab and the rows that its voxels are
// seen in. Volumes lie [z][y][x], line integrals [view][row][column], fp32, in the device's memory.
// Every ray and every voxel is summed in an order of its own, whatever the piece: any cut gives the same bits on one
// kind of device.
#pragma once

#include <cstdint>
#include <string>

#include "device/projector.h"
#include "geometry/row_band.h"
#include <lepus/geometry.h>
#include <lepus/operator.h>

namespace lepus {

class Queue;

struct RayProjectorSetup {
  const ScanGeometry* geometry = nullptr;  // outlives the projector
  VolumeGrid grid;
  RayModel model = RayModel::joseph;
  Precision precision = Precision::exact;  // half counts as fast
};

// Rows of some views in the device's memory: values[((view - first_view) * rows.size() + row - rows.first) * columns +
// column].
template <class Value>
struct ViewRows {
  Value* values = nullptr;
  std::int64_t first_view = 0, views = 0;
  RowBand rows;
};

// Slices of the volume in the device's memory.
template <class Value>
struct SlabVoxels {
  Value* voxels = nullptr;
  SlabRange slices;
  bool as_before = false;  // to forward: those of the call before, unchanged, in the same queue
};

class RayProjector {
public:
  virtual ~RayProjector() = default;
  virtual std::string description() const = 0;
  // What the device takes beside the arrays it is given, for a piece of this size.
  virtual std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const = 0;

  // Wedges of adjoint start at multiples of this, and end there or at the last view.
  virtual std::int64_t view_block() const { return 1; }

  // line_integrals = A slab; the slab holds the slices that the rays meet at least (operators/pieces.h).
  virtual void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& line_integrals, Queue& queue) = 0;
  // slab += A' line_integrals, views one after the other; they hold the rows that the slab's voxels are seen in at
  // least.
  virtual void adjoint(const ViewRows<const float>& line_integrals, const SlabVoxels<float>& slab, Queue& queue) = 0;
};

}  // namespace lepus

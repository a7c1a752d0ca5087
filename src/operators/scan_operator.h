// SPDX-License-Identifier: Apache-2.0
// A scan's operator over slabs, wedges and devices: what lepus::Operator and the methods' linear map are made of.
// Where the device works in the host's memory, or the arrays lie in the device's own, they are used as they are; else
// pieces go there and back (plan.h), copies beside the sums, and several devices take them from one queue.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/threads.h"
#include "device/device.h"
#include "device/ray_projector.h"
#include "operators/pieces.h"
#include "operators/plan.h"
#include <lepus/operator.h>

namespace lepus {

class ChunkQueue;
class VectorMemory;

// A device's memory for the pieces that go there and back. Kept: drivers take long to give some and to take it back.
class PieceMemory {
public:
  float* get(Device& device, std::int64_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_ = device.allocate(bytes);
      bytes_ = bytes;
    }
    return reinterpret_cast<float*>(memory_.get());
  }

private:
  Block memory_;
  std::int64_t bytes_ = 0;
};

// The devices that an operator and its subsets share.
struct OperatorDevices {
  explicit OperatorDevices(const Compute& compute) : threads(compute.threads), devices(open_devices(compute, threads)) {
    for (const auto& device : devices) queues.push_back(device->make_queue());
    pieces.resize(devices.size());
  }
  std::mutex one_at_a_time;  // threads and queues take one piece of work after another
  ThreadPool threads;
  Devices devices;
  std::vector<std::unique_ptr<Queue>> queues;  // of the sums, one per device
  std::vector<PieceMemory> pieces;             // one per device
};

// Whether a device that works in the host's memory is handed copies of pieces all the same, as if it had a memory of
// this many bytes: where the arrays lie elsewhere, and tests cut small problems so.
struct ForcedCut {
  std::int64_t device_bytes = 0;  // 0: not
  // What copies from and to the arrays that are handed over as the host's, where they lie in memory of its own that no
  // other device knows (device/files); null: they are the host's. It outlives the operator.
  Device* home = nullptr;
  // Where the arrays lie on the device, the only one, or on the host. It outlives the operator. Null: in one place.
  const VectorMemory* vectors = nullptr;
};

class ScanOperator {
public:
  ScanOperator(const ScanGeometry& geometry, const VolumeGrid& grid, const OperatorOptions& options,
               ForcedCut forced = {});
  ScanOperator(const ScanGeometry& geometry, const VolumeGrid& grid, const OperatorOptions& options, ForcedCut forced,
               std::shared_ptr<OperatorDevices> machines);

  const ScanGeometry& geometry() const { return geometry_; }
  const VolumeGrid& grid() const { return grid_; }
  const OperatorOptions& options() const { return options_; }
  std::int64_t values() const { return geometry_.views() * geometry_.rows * geometry_.columns; }
  std::string description() const;
  OperatorDevices& machines() const { return *machines_; }
  const std::shared_ptr<OperatorDevices>& shared_machines() const { return machines_; }
  const RayProjector& projector() const { return *projectors_.front(); }
  // volume_there: where the arrays lie in two places, the volume lies on the device. Elsewhere slices are copied there;
  // A of such arrays reads them from the host where copies do not fit.
  OperatorPlan forward_plan(bool volume_there = false) const;
  OperatorPlan adjoint_plan(bool volume_there = false) const { return plan_adjoint(sizes(volume_there)); }

  void forward(const float* volume, float* line_integrals, ArrayPlace place) const;
  void adjoint(const float* line_integrals, float* volume, ArrayPlace place) const;
  // Slab by slab on the only device: use(voxels, slices) gives its work to the device's queue.
  using UseSlab = std::function<void(float* voxels, SlabRange slices)>;
  void adjoint_by_slabs(const float* line_integrals, const UseSlab& use) const;
  std::unique_ptr<ScanOperator> subset(std::span<const std::int64_t> views) const;

private:
  OperatorSizes sizes(bool volume_there) const;
  bool in_place(ArrayPlace place, const float* volume) const;
  bool is_there(const float* volume) const;  // on the device, where the arrays lie in two places
  // Each device works on chunks until there are no more.
  void share_chunks(const OperatorPlan& plan, const std::function<void(std::size_t, ChunkQueue&)>& work) const;
  void forward_chunks(std::size_t worker, const float* volume, float* line_integrals, ChunkQueue& chunks) const;
  // Into `volume` where it is not null; `use`, if any, is called for every slab.
  void adjoint_chunks(std::size_t worker, const float* line_integrals, float* volume, ChunkQueue& chunks,
                      const UseSlab& use = {}) const;

  ScanGeometry geometry_;
  VolumeGrid grid_;
  OperatorOptions options_;
  ForcedCut forced_;
  SliceRows pieces_;
  std::shared_ptr<OperatorDevices> machines_;
  std::vector<std::unique_ptr<RayProjector>> projectors_;  // one per device
};

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "operators/scan_map.h"

#include <utility>

#include "device/host/device.h"
#include "operators/scan_operator.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Where the vectors of a method live; its subsets share it.
struct MapHome {
  std::unique_ptr<Device> host;  // where the operator's devices are not the home
  std::unique_ptr<Queue> host_queue;
  std::unique_ptr<VectorMemory> vectors;  // where they lie in two places
};

class ScanMap final : public LinearMap {
public:
  ScanMap(std::unique_ptr<ScanOperator> scan, std::shared_ptr<MapHome> home)
      : scan_(std::move(scan)), home_(std::move(home)) {}

  VolumeShape shape() const override { return {scan_->grid().nx, scan_->grid().ny, scan_->grid().nz}; }
  std::int64_t views() const override { return scan_->geometry().views(); }
  std::int64_t values_per_view() const override { return scan_->geometry().rows * scan_->geometry().columns; }

  void forward(const float* volume, float* line_integrals) override { scan_->forward(volume, line_integrals, place()); }
  void adjoint(const float* line_integrals, float* volume) override { scan_->adjoint(line_integrals, volume, place()); }
  void adjoint_by_slabs(const float* line_integrals, Block& work, const UseSlab& use) override {
    if (!home_->vectors) return LinearMap::adjoint_by_slabs(line_integrals, work, use);
    scan_->adjoint_by_slabs(line_integrals, use);
  }
  bool exact_transpose() const override { return scan_->options().model != RayModel::voxel; }
  std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const override {
    return std::make_unique<ScanMap>(scan_->subset(views), home_);
  }

  Device& home() const override { return home_->host ? *home_->host : *scan_->machines().devices.front(); }
  Queue& queue() const override { return home_->host ? *home_->host_queue : *scan_->machines().queues.front(); }
  VectorMemory* vector_memory() const override { return home_->vectors.get(); }

private:
  ArrayPlace place() const { return home_->host ? ArrayPlace::host : ArrayPlace::device; }

  std::unique_ptr<ScanOperator> scan_;
  std::shared_ptr<MapHome> home_;
};

}  // namespace

bool holds_vectors(const ScanOperator& scan, std::int64_t method_bytes) {
  const Devices& devices = scan.machines().devices;
  if (devices.size() > 1) return false;
  const Device& device = *devices.front();
  const ScanGeometry& geometry = scan.geometry();
  return device.info().host ||
         method_bytes + scan.projector().work_bytes(scan.grid().nz, geometry.views(), geometry.rows) <=
             device.memory_limit_bytes();
}

bool spreads_vectors(const ScanOperator& scan, const VectorNeeds& needs) {
  const Devices& devices = scan.machines().devices;
  return needs.may_spread && devices.size() == 1 && devices.front()->reaches_host_memory() &&
         !holds_vectors(scan, needs.bytes);
}

std::unique_ptr<VectorMemory> make_vector_memory(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                 const OperatorOptions& options, std::int64_t device_bytes,
                                                 std::int64_t part_bytes,
                                                 const std::shared_ptr<OperatorDevices>& machines) {
  const auto memory_of = [&](VectorSizes sizes) {
    auto memory = std::make_unique<VectorMemory>(*machines->devices.front(), device_bytes, sizes);
    const ScanOperator scan(geometry, grid, options, {.vectors = memory.get()}, machines);
    scan.forward_plan();  // whether it fits
    scan.adjoint_plan();
    return memory;
  };
  try {
    return memory_of({grid.voxels() * static_cast<std::int64_t>(sizeof(float)), part_bytes});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    return memory_of({device_bytes, device_bytes});  // neither a volume nor a part of that size has room
  }
}

std::unique_ptr<LinearMap> make_spread_map(const ScanGeometry& geometry, const VolumeGrid& grid,
                                           const OperatorOptions& options, std::int64_t device_bytes,
                                           std::int64_t part_bytes, std::shared_ptr<OperatorDevices> machines) {
  if (!machines) machines = std::make_shared<OperatorDevices>(options.compute);
  auto home = std::make_shared<MapHome>();
  home->vectors = make_vector_memory(geometry, grid, options, device_bytes, part_bytes, machines);
  auto scan =
      std::make_unique<ScanOperator>(geometry, grid, options, ForcedCut{.vectors = home->vectors.get()}, machines);
  return std::make_unique<ScanMap>(std::move(scan), std::move(home));
}

std::unique_ptr<LinearMap> make_scan_map(const ScanGeometry& geometry, const VolumeGrid& grid,
                                         const OperatorOptions& options, const VectorNeeds& needs,
                                         const files::Setup* files) {
  auto home = std::make_shared<MapHome>();
  const auto machines = std::make_shared<OperatorDevices>(options.compute);
  ForcedCut cut;
  if (files) {
    home->host = files::make_device(*files, machines->threads);
    cut.device_bytes = machines->devices.front()->info().host ? files->work_bytes : 0;
    cut.home = home->host.get();
  }
  auto scan = std::make_unique<ScanOperator>(geometry, grid, options, cut, machines);
  if (files) {
    scan->forward_plan();  // whether it fits at all, before any work
    scan->adjoint_plan();
  } else if (spreads_vectors(*scan, needs)) {
    return make_spread_map(geometry, grid, options, machines->devices.front()->memory_limit_bytes(), needs.part_bytes,
                           machines);
  } else if (!holds_vectors(*scan, needs.bytes)) {
    home->host = host::make_device("cpu", machines->threads);
  }
  if (home->host) home->host_queue = home->host->make_queue();
  return std::make_unique<ScanMap>(std::move(scan), std::move(home));
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "operators/scan_map.h"

#include <utility>

#include "device/host/device.h"
#include "operators/scan_operator.h"

namespace lepus {
namespace {

// Where the vectors of a method live; its subsets share it.
struct MapHome {
  std::unique_ptr<Device> host;  // where the operator's devices are not the home
  std::unique_ptr<Queue> host_queue;
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
  std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const override {
    return std::make_unique<ScanMap>(scan_->subset(views), home_);
  }

  Device& home() const override { return home_->host ? *home_->host : *scan_->machines().devices.front(); }
  Queue& queue() const override { return home_->host ? *home_->host_queue : *scan_->machines().queues.front(); }

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

std::unique_ptr<LinearMap> make_scan_map(const ScanGeometry& geometry, const VolumeGrid& grid,
                                         const OperatorOptions& options, std::int64_t method_bytes,
                                         const files::Setup* files) {
  auto home = std::make_shared<MapHome>();
  const auto machines = std::make_shared<OperatorDevices>(options.compute);
  ForcedCut cut;
  if (files) {
    home->host = files::make_device(*files, machines->threads);
    cut = {machines->devices.front()->info().host ? files->work_bytes : 0, home->host.get()};
  }
  auto scan = std::make_unique<ScanOperator>(geometry, grid, options, cut, machines);
  if (files) {
    scan->forward_plan();  // whether it fits at all, before any work
    scan->adjoint_plan();
  } else if (!holds_vectors(*scan, method_bytes)) {
    home->host = host::make_device("cpu", machines->threads);
  }
  if (home->host) home->host_queue = home->host->make_queue();
  return std::make_unique<ScanMap>(std::move(scan), std::move(home));
}

}  // namespace lepus

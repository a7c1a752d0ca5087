// SPDX-License-Identifier: Apache-2.0
// Siddon's operator on the host: all of its rays through block_projector.h.
#include "device/host/block_projector.h"
#include "device/host/device.h"
#include "device/host/ray_projector.h"

namespace lepus::host {
namespace {

class SiddonProjector final : public RayProjector {
public:
  explicit SiddonProjector(const RayProjectorSetup& setup) : scan_(setup), rays_(scan_) {}

  std::string description() const override { return std::string("single rays, ") + rays_.target(); }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    return rays_.work_bytes(slices, views, rows);
  }
  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& out, Queue& queue) override {
    rays_.forward(slab, out, queue);
  }
  void adjoint(const ViewRows<const float>& in, const SlabVoxels<float>& slab, Queue& queue) override {
    rays_.adjoint(in, slab, threads_of(queue));
  }

private:
  RayScan scan_;
  BlockProjector rays_;
};

}  // namespace

std::unique_ptr<RayProjector> make_siddon_projector(const RayProjectorSetup& setup) {
  return std::make_unique<SiddonProjector>(setup);
}

}  // namespace lepus::host

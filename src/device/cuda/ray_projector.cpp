// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector.h"

#include <algorithm>
#include <optional>

#include "core/format.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/ray_projector_adjoint.h"
#include "device/cuda/ray_projector_planes.h"
#include "device/cuda/ray_projector_voxel.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

void require_texture_size(const JosephGrid& grid) {
  constexpr int maximum = layers_per_sheet * maximum_sheets;
  for (int k = 0; k < 3; ++k)
    if (grid.size[k] > maximum)
      throw Error(ErrorKind::unsupported,
                  {.what = "the volume is too large for a texture",
                   .where = {},
                   .why = format("{} voxels along {}, at most {}", grid.size[k], "xyz"[k], maximum),
                   .hint = "use the backend cpu"});
}

// The rays of a scan in a device's memory, and Joseph's A.
class JosephForward {
public:
  explicit JosephForward(const RayProjectorSetup& setup)
      : weights_(setup.precision == Precision::exact ? Weights::fp32 : Weights::texture),
        job_(forward_job(*setup.geometry, setup.grid, nullptr, nullptr)),
        axes_(axes_of(job_)),
        views_(on_device(job_.views.data(), static_cast<std::int64_t>(job_.views.size()), "copy views to the device")) {
    if (weights_ == Weights::texture) require_texture_size(job_.grid);
  }
  const ForwardJob& job() const { return job_; }
  const JosephView* views() const { return views_.data(); }
  const char* description() const { return weights_ == Weights::fp32 ? "fp32 weights" : "texture weights"; }
  std::int64_t work_bytes(std::int64_t slices) const { return VolumePlanes::bytes(job_.grid, axes_, weights_, slices); }

  void project(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue) {
    if (lines.views == 0 || lines.rows.size() == 0) return;
    const std::int64_t slices = slab.slices.slices();
    if (!planes_ || planes_->capacity() < slices) {
      queue.wait();  // kernels that read the old ones
      planes_.reset();
      planes_.emplace(job_.grid, axes_, weights_, slices);
    }
    launch_forward({.view = views_.data() + lines.first_view,
                    .views = static_cast<int>(lines.views),
                    .columns = static_cast<int>(job_.columns),
                    .first_row = static_cast<int>(lines.rows.first),
                    .rows = static_cast<int>(lines.rows.size()),
                    .sums = lines.values},
                   planes_->fill(slab.voxels, slab.slices, stream_of(queue)), weights_, stream_of(queue));
  }

private:
  Weights weights_;
  ForwardJob job_;
  std::vector<int> axes_;
  DeviceBuffer<JosephView> views_;
  std::optional<VolumePlanes> planes_;
};

// RayModel::joseph and RayModel::voxel, which differ in A'.
template <class Adjoint>
class JosephProjector final : public RayProjector {
public:
  template <class MakeAdjoint>
  JosephProjector(int device, const char* model, const RayProjectorSetup& setup, const MakeAdjoint& make_adjoint)
      : device_((use_device(device), device)), model_(model), forward_(setup), adjoint_(make_adjoint(forward_)) {}

  std::string description() const override {
    return format("{}, {}; transpose: {}", model_, forward_.description(), adjoint_.description());
  }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    return forward_.work_bytes(slices) + adjoint_.work_bytes(views, rows);
  }
  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue) override {
    use_device(device_);
    forward_.project(slab, lines, queue);
  }
  void adjoint(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) override {
    use_device(device_);
    adjoint_.add(lines, slab, queue);
  }

private:
  int device_;
  const char* model_;
  JosephForward forward_;
  Adjoint adjoint_;
};

}  // namespace

std::unique_ptr<RayProjector> make_ray_projector(int device, const RayProjectorSetup& setup) {
  if (setup.model == RayModel::joseph)
    return std::make_unique<JosephProjector<JosephAdjoint>>(device, "Joseph", setup, [&](const JosephForward& forward) {
      return JosephAdjoint(forward.job(), *setup.geometry, setup.grid, forward.views());
    });
  if (setup.model == RayModel::voxel)
    return std::make_unique<JosephProjector<VoxelAdjoint>>(device, "voxel", setup, [&](const JosephForward&) {
      return VoxelAdjoint(*setup.geometry, setup.grid, setup.precision);
    });
  throw Error(
      ErrorKind::unsupported,
      {.what = "this model of rays is not there on CUDA", .where = {}, .why = {}, .hint = "use the backend cpu"});
}

}  // namespace lepus::cuda

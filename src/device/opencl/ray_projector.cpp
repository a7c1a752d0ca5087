// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/ray_projector.h"

#include "core/format.h"
#include "device/opencl/ray_projector_rays.h"
#include "device/opencl/ray_projector_voxel.h"

namespace lepus::opencl {
namespace {

const char* name_of(RayModel model) {
  switch (model) {
    case RayModel::siddon:
      return "Siddon";
    case RayModel::footprint:
      return "footprint";
    case RayModel::voxel:
      return "voxel";
    case RayModel::joseph:
      break;
  }
  return "Joseph";
}

class OpenclRayProjector : public RayProjector {
public:
  OpenclRayProjector(Device& device, Context& context, const RayProjectorSetup& setup)
      : model_(setup.model), rays_(device, context, setup) {}

  std::string description() const override {
    return format("{}, {} weights{}", name_of(model_), rays_.samples_images() ? "sampler's" : "fp32",
                  rays_.gathers_columns() ? "; transpose by columns of voxels" : "");
  }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    return forward_bytes(slices) + rays_.gather_bytes(views, rows);
  }
  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue) override {
    rays_.project(slab, lines, queue);
  }
  void adjoint(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) override {
    rays_.gather(lines, slab, queue);
  }

protected:
  std::int64_t forward_bytes(std::int64_t slices) const { return rays_.table_bytes() + rays_.project_bytes(slices); }

private:
  RayModel model_;
  ScanRays rays_;
};

class OpenclVoxelProjector final : public OpenclRayProjector {
public:
  OpenclVoxelProjector(Device& device, Context& context, const RayProjectorSetup& setup)
      : OpenclRayProjector(device, context, setup),
        adjoint_(device, context, *setup.geometry, setup.grid, setup.precision) {}
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    return forward_bytes(slices) + adjoint_.work_bytes(views, rows);
  }
  void adjoint(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) override {
    adjoint_.add(lines, slab, queue);
  }

private:
  VoxelAdjoint adjoint_;
};

}  // namespace

std::unique_ptr<RayProjector> make_ray_projector(Device& device, Context& context, const RayProjectorSetup& setup) {
  if (setup.model == RayModel::voxel) return std::make_unique<OpenclVoxelProjector>(device, context, setup);
  return std::make_unique<OpenclRayProjector>(device, context, setup);
}

}  // namespace lepus::opencl

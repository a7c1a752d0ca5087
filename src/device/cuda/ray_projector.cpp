// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector.h"

#include "core/format.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/ray_projector_adjoint.h"
#include "device/cuda/ray_projector_models_adjoint.h"
#include "device/cuda/ray_projector_upright_scan.h"
#include "device/cuda/ray_projector_voxel.h"

namespace lepus::cuda {
namespace {

using LaunchForward = void (*)(const RaysOnDevice&, const PlanesOnDevice&, cudaStream_t);

template <Weights weights>
void launch_joseph(const RaysOnDevice& rays, const PlanesOnDevice& volume, cudaStream_t stream) {
  launch_forward(rays, volume, weights, stream);
}

struct Model {
  const char* name;
  Weights weights;
  LaunchForward launch;
};

// A by the model's kernel; A' by what `make_adjoint(rays)` makes.
template <class Adjoint>
class CudaRayProjector final : public RayProjector {
public:
  template <class MakeAdjoint>
  CudaRayProjector(int device, const Model& model, const RayProjectorSetup& setup, const MakeAdjoint& make_adjoint)
      : device_((use_device(device), device)),
        model_(model),
        rays_(setup, model.weights),
        adjoint_(make_adjoint(rays_)) {}

  std::string description() const override {
    return format("{}, {} weights; transpose: {}", model_.name, model_.weights == Weights::fp32 ? "fp32" : "texture",
                  adjoint_.description());
  }
  std::int64_t work_bytes(std::int64_t slices, std::int64_t views, std::int64_t rows) const override {
    return rays_.work_bytes(slices) + adjoint_.work_bytes(views, rows);
  }
  void forward(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue) override {
    use_device(device_);
    rays_.project(slab, lines, queue, [&](const RaysOnDevice& rays, const PlanesOnDevice& planes) {
      model_.launch(rays, planes, stream_of(queue));
    });
  }
  void adjoint(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) override {
    use_device(device_);
    adjoint_.add(lines, slab, queue);
  }

private:
  int device_;
  Model model_;
  ScanRays rays_;
  Adjoint adjoint_;
};

template <class Adjoint, class MakeAdjoint>
std::unique_ptr<RayProjector> make(int device, const Model& model, const RayProjectorSetup& setup,
                                   const MakeAdjoint& make_adjoint) {
  return std::make_unique<CudaRayProjector<Adjoint>>(device, model, setup, make_adjoint);
}

template <class Pixel>
std::unique_ptr<RayProjector> make_of_pixels(int device, const char* name, const RayProjectorSetup& setup) {
  return make<PixelAdjoint<Pixel>>(
      device, {name, Weights::fp32, launch_model_forward<Pixel>}, setup,
      [&](const ScanRays& rays) { return PixelAdjoint<Pixel>(rays.job(), *setup.geometry, setup.grid, rays.views()); });
}

}  // namespace

std::unique_ptr<RayProjector> make_ray_projector(int device, const RayProjectorSetup& setup) {
  const bool exact = setup.precision == Precision::exact;
  const Weights weights = exact ? Weights::fp32 : Weights::texture;
  const LaunchForward joseph = exact ? launch_joseph<Weights::fp32> : launch_joseph<Weights::texture>;
  switch (setup.model) {
    case RayModel::siddon:
      return make_of_pixels<SiddonPixel>(device, "Siddon", setup);
    case RayModel::footprint:
      if (auto upright = make_upright_footprints(device, setup)) return upright;
      return make_of_pixels<FootprintPixel>(device, "footprint", setup);
    case RayModel::voxel:
      return make<VoxelAdjoint>(device, {"voxel", weights, joseph}, setup, [&](const ScanRays&) {
        return VoxelAdjoint(*setup.geometry, setup.grid, setup.precision);
      });
    case RayModel::joseph:
      break;
  }
  return make<JosephAdjoint>(device, {"Joseph", weights, joseph}, setup, [&](const ScanRays& rays) {
    return JosephAdjoint(rays.job(), *setup.geometry, setup.grid, rays.views());
  });
}

}  // namespace lepus::cuda

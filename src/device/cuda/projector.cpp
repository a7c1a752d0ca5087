// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/projector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/slab_kernels.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

class CudaViews final : public ViewStore {
public:
  CudaViews(int device, const StoreShape& shape) : device_((use_device(device), device)), textures(shape) {}
  void set_largest_value(float value) override {
    use_device(device_);
    if (is_half(textures.shape().kind)) textures.set_scale(half_scale(value));
  }
  void set_window(std::int64_t slot, RowBand rows, Keep) override {
    textures.set_first_row(slot, first_held_row(rows, textures.shape().rows, textures.shape().detector_rows));
  }
  void put(const float* filtered, std::int64_t view_stride, std::int64_t first_slot, std::int64_t slots, RowBand rows,
           Queue& queue) override {
    use_device(device_);
    textures.store(
        {.data = filtered, .row_stride = textures.shape().columns, .view_stride = view_stride, .factor = 1.0F},
        first_slot, slots, rows.first, rows.size(), stream_of(queue));
  }

private:
  int device_;

public:
  ViewTextures textures;
};

class CudaSlab final : public SlabStore {
public:
  CudaSlab(int device, const VolumeGrid& grid, double cylinder_mm, std::int64_t slices)
      : device_((use_device(device), device)), grid_(grid), cylinder_mm_(cylinder_mm), voxels_(area() * slices) {}

  void begin(SlabRange slab, Queue& queue) override {
    use_device(device_);
    range_ = slab;
    check(cudaMemsetAsync(voxels_.data(), 0, size(area() * slab.slices()), stream_of(queue)), "clear a slab");
  }
  void finish(Queue& queue) override {
    use_device(device_);
    launch_mask_outside(voxels_.data(), grid_, range_.slices(), cylinder_mm_, stream_of(queue));
  }
  void download(std::int64_t z0, std::int64_t z1, float* slices, Queue& queue) override {
    use_device(device_);
    check(cudaMemcpyAsync(slices, voxels_.data() + (z0 - range_.z0) * area(), size((z1 - z0) * area()),
                          cudaMemcpyDeviceToHost, stream_of(queue)),
          "download a slab from the device");
  }

  // Compacted on the device first: a slice across x is one float of every row.
  void download(const VoxelBox& box, float* voxels, Queue& queue) override {
    if (box.x1 - box.x0 == grid_.nx && box.y1 - box.y0 == grid_.ny) return download(box.z0, box.z1, voxels, queue);
    use_device(device_);
    const std::int64_t width = box.x1 - box.x0, height = box.y1 - box.y0;
    const ScratchScope scope(queue);
    auto* compact = queue.scratch<float>(box.voxels());
    const auto extent = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {voxels_.data(), size(grid_.nx), extent(grid_.nx), extent(grid_.ny)};
    copy.srcPos = {size(box.x0), extent(box.y0), extent(box.z0 - range_.z0)};
    copy.dstPtr = {compact, size(width), extent(width), extent(height)};
    copy.extent = {size(width), extent(height), extent(box.z1 - box.z0)};
    copy.kind = cudaMemcpyDeviceToDevice;
    check(cudaMemcpy3DAsync(&copy, stream_of(queue)), "gather voxels on the device");
    check(cudaMemcpyAsync(voxels, compact, size(box.voxels()), cudaMemcpyDeviceToHost, stream_of(queue)),
          "download voxels from the device");
  }

  Backprojection::Slab part(SlabRange slices) const {
    return {voxels_.data() + (slices.z0 - range_.z0) * area(), slices.z0, slices.z1};
  }

private:
  std::int64_t area() const { return grid_.nx * grid_.ny; }
  static std::size_t size(std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

  int device_;
  VolumeGrid grid_;
  double cylinder_mm_;
  SlabRange range_;
  DeviceBuffer<float> voxels_;
};

class CudaProjector final : public Projector {
public:
  CudaProjector(int device, Precision precision, const ProjectorSetup& setup)
      : device_((use_device(device), device)),
        grid_(setup.grid),
        cylinder_mm_(setup.cylinder_mm),
        kernel_(*setup.geometry, setup.grid, precision, setup.interpolation, setup.views_share_texels) {}

  std::string description() const override { return kernel_.description(); }
  const std::vector<std::int64_t>& view_order() const override { return kernel_.view_order(); }
  std::int64_t view_block() const override { return kernel_.view_block(); }
  std::int64_t views_at_once() const override { return std::numeric_limits<std::int64_t>::max(); }
  bool rows_alike() const override { return true; }
  std::int64_t bytes_per_value() const override { return bytes_per_pixel(kernel_.texel_kind()); }

  // Measured on one H200 (docs/results/cuda.md), between 512^3 and 1024^3.
  double updates_per_second() const override {
    const TexelKind kind = kernel_.texel_kind();
    switch (views_per_texel(kind)) {
      case 4:
        return 3.5e12;
      case 2:
        return 1.9e12;
      default:
        return kind == TexelKind::gather || kind == TexelKind::linear ? 6e11 : 1e12;
    }
  }

  std::unique_ptr<ViewStore> make_view_store(std::int64_t slots, std::int64_t rows) const override {
    return std::make_unique<CudaViews>(device_, kernel_.store_shape(slots, rows));
  }
  std::unique_ptr<SlabStore> make_slab_store(std::int64_t slices) const override {
    return std::make_unique<CudaSlab>(device_, grid_, cylinder_mm_, slices);
  }

  void back(const Wedge& wedge, SlabStore& slab, SlabRange slices, Queue& queue) const override {
    use_device(device_);
    if (wedge.slots && !std::ranges::is_sorted(*wedge.slots))  // views that share no texels are summed as they come
      throw Error(ErrorKind::internal, {.what = "views out of order", .where = "CUDA", .why = {}, .hint = {}});
    kernel_.accumulate(
        {&dynamic_cast<const CudaViews&>(*wedge.store).textures, wedge.first_slot, wedge.first, wedge.views},
        dynamic_cast<CudaSlab&>(slab).part(slices), stream_of(queue));
  }

private:
  int device_;
  VolumeGrid grid_;
  double cylinder_mm_;
  Backprojection kernel_;
};

}  // namespace

std::unique_ptr<Projector> make_projector(int device, Precision precision, const ProjectorSetup& setup) {
  return std::make_unique<CudaProjector>(device, precision, setup);
}

}  // namespace lepus::cuda

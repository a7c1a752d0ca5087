// SPDX-License-Identifier: Apache-2.0
#include "iterative/scaled_map.h"

#include <utility>

namespace lepus {
namespace {

class ScaledMap final : public LinearMap {
public:
  ScaledMap(LinearMap& map, std::unique_ptr<LinearMap> owned, const Vector* row_scale, Vector own_scale,
            const Vector* mask)
      : owned_(std::move(owned)),
        map_(owned_ ? *owned_ : map),
        own_scale_(std::move(own_scale)),
        row_scale_(own_scale_ ? &own_scale_ : row_scale),
        mask_(mask) {
    if (mask_) masked_ = Vector(map_, map_.voxels());
    if (row_scale_) scaled_ = Vector(map_, map_.values());
  }

  VolumeShape shape() const override { return map_.shape(); }
  std::int64_t views() const override { return map_.views(); }
  std::int64_t values_per_view() const override { return map_.values_per_view(); }
  Device& home() const override { return map_.home(); }
  Queue& queue() const override { return map_.queue(); }
  VectorMemory* vector_memory() const override { return map_.vector_memory(); }
  Ranks* ranks() const override { return map_.ranks(); }
  bool exact_transpose() const override { return map_.exact_transpose(); }

  void forward(const float* volume, float* line_integrals) override {
    VectorKernels& kernels = home().vector_kernels();
    if (mask_) kernels.multiply(masked_.data(), volume, mask_->data(), voxels(), queue());
    map_.forward(mask_ ? masked_.data() : volume, line_integrals);
    if (row_scale_) kernels.multiply(line_integrals, line_integrals, row_scale_->data(), values(), queue());
  }
  void adjoint(const float* line_integrals, float* volume) override {
    map_.adjoint(scaled(line_integrals), volume);
    mask_slab(volume, {0, shape().nz});
  }
  void adjoint_by_slabs(const float* line_integrals, Block& work, const UseSlab& use) override {
    map_.adjoint_by_slabs(scaled(line_integrals), work, [&](float* voxels, SlabRange slices) {
      mask_slab(voxels, slices);
      use(voxels, slices);
    });
  }

  std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const override {
    auto some = map_.subset(views);
    Vector scale;
    if (row_scale_) {
      const std::int64_t n = values_per_view();
      scale = Vector(*some, static_cast<std::int64_t>(views.size()) * n);
      for (std::size_t i = 0; i < views.size(); ++i)
        home().copy(scale.data() + static_cast<std::int64_t>(i) * n, row_scale_->data() + views[i] * n,
                    n * static_cast<std::int64_t>(sizeof(float)), queue());
    }
    LinearMap& shared = *some;
    return std::make_unique<ScaledMap>(shared, std::move(some), nullptr, std::move(scale), mask_);
  }

private:
  const float* scaled(const float* line_integrals) {
    if (!row_scale_) return line_integrals;
    home().vector_kernels().multiply(scaled_.data(), line_integrals, row_scale_->data(), values(), queue());
    return scaled_.data();
  }
  void mask_slab(float* voxels, SlabRange slices) {
    if (!mask_) return;
    const std::int64_t slice = shape().nx * shape().ny;
    home().vector_kernels().multiply(voxels, voxels, mask_->data() + slices.z0 * slice, slices.slices() * slice,
                                     queue());
  }

  std::unique_ptr<LinearMap> owned_;  // of a subset
  LinearMap& map_;
  Vector own_scale_;
  const Vector *row_scale_, *mask_;
  Vector masked_, scaled_;
};

}  // namespace

std::unique_ptr<LinearMap> scaled_map(LinearMap& map, const Vector* row_scale, const Vector* mask) {
  return std::make_unique<ScaledMap>(map, nullptr, row_scale, Vector(), mask);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "operators/rank_map.h"

#include <utility>
#include <vector>

#include "device/device.h"
#include "ranks/shared_sum.h"

namespace lepus {
namespace {

// What a map and its subsets share.
struct VolumeSum {
  VolumeSum(Ranks& all, std::int64_t voxels, ArrayRange part) : ranks(all), mine(part), sum(all, voxels, part) {}
  Ranks& ranks;
  ArrayRange mine;  // of the volume's voxels
  SharedSum sum;
  std::vector<float> on_host;  // where the volume lies in a device's memory
};

class RankMap final : public LinearMap {
public:
  RankMap(std::unique_ptr<LinearMap> part, const VolumeShape& whole, std::shared_ptr<VolumeSum> sum)
      : part_(std::move(part)), whole_(whole), sum_(std::move(sum)) {}

  VolumeShape shape() const override { return whole_; }
  std::int64_t views() const override { return part_->views(); }
  std::int64_t values_per_view() const override { return part_->values_per_view(); }
  Device& home() const override { return part_->home(); }
  Queue& queue() const override { return part_->queue(); }
  VectorMemory* vector_memory() const override { return part_->vector_memory(); }
  Ranks* ranks() const override { return &sum_->ranks; }
  bool exact_transpose() const override { return part_->exact_transpose(); }

  void forward(const float* volume, float* line_integrals) override {
    part_->forward(volume + sum_->mine.first, line_integrals);
  }
  void adjoint(const float* line_integrals, float* volume) override {
    const ArrayRange& mine = sum_->mine;
    part_->adjoint(line_integrals, volume + mine.first);
    if (home().info().host) {
      queue().wait();
      sum_->sum(volume);
      return;
    }
    constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));
    sum_->on_host.resize(static_cast<std::size_t>(voxels()));
    home().copy(sum_->on_host.data() + mine.first, volume + mine.first, mine.size() * float_bytes, queue());
    queue().wait();
    sum_->sum(sum_->on_host.data());
    home().copy(volume, sum_->on_host.data(), voxels() * float_bytes, queue());
    queue().wait();
  }
  std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const override {
    return std::make_unique<RankMap>(part_->subset(views), whole_, sum_);
  }

private:
  std::unique_ptr<LinearMap> part_;
  VolumeShape whole_;
  std::shared_ptr<VolumeSum> sum_;
};

}  // namespace

std::unique_ptr<LinearMap> make_rank_map(Ranks& ranks, std::unique_ptr<LinearMap> part, const VolumeShape& whole,
                                         std::int64_t first_slice) {
  const std::int64_t first = first_slice * whole.nx * whole.ny;
  auto sum = std::make_shared<VolumeSum>(ranks, whole.voxels(), ArrayRange{first, first + part->voxels()});
  return std::make_unique<RankMap>(std::move(part), whole, std::move(sum));
}

}  // namespace lepus

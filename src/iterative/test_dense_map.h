// SPDX-License-Identifier: Apache-2.0
// For tests: a small matrix of random entries, none below zero, as a linear map on the host, and a problem of it.
#pragma once

#include <memory>
#include <random>
#include <span>
#include <vector>

#include "device/host/test_host.h"
#include "iterative/method.h"

namespace lepus {

class DenseMap final : public LinearMap {
public:
  DenseMap(TestHost& host, const VolumeShape& shape, std::int64_t views, std::int64_t values_per_view, unsigned seed)
      : host_(host), shape_(shape), views_(views), per_view_(values_per_view) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(0, 1);
    entries_.resize(static_cast<std::size_t>(values() * voxels()));
    for (float& entry : entries_) entry = random() % 3 == 0 ? uniform(random) : 0;
  }

  VolumeShape shape() const override { return shape_; }
  std::int64_t views() const override { return views_; }
  std::int64_t values_per_view() const override { return per_view_; }
  Device& home() const override { return host_.device(); }
  Queue& queue() const override { return host_.queue(); }
  float& at(std::int64_t value, std::int64_t voxel) {
    return entries_[static_cast<std::size_t>(value * voxels() + voxel)];
  }

  void forward(const float* volume, float* line_integrals) override {
    for (std::int64_t i = 0; i < values(); ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < voxels(); ++j) sum += static_cast<double>(at(i, j)) * volume[j];
      line_integrals[i] = static_cast<float>(sum);
    }
  }
  void adjoint(const float* line_integrals, float* volume) override {
    for (std::int64_t j = 0; j < voxels(); ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < values(); ++i) sum += static_cast<double>(at(i, j)) * line_integrals[i];
      volume[j] = static_cast<float>(sum);
    }
  }
  // Of the values [first, last) of every view.
  std::unique_ptr<DenseMap> part(std::int64_t first, std::int64_t last) const {
    auto some = std::make_unique<DenseMap>(*this);
    some->per_view_ = last - first;
    some->entries_.clear();
    for (std::int64_t view = 0; view < views_; ++view)
      some->entries_.insert(some->entries_.end(), entries_.begin() + (view * per_view_ + first) * voxels(),
                            entries_.begin() + (view * per_view_ + last) * voxels());
    return some;
  }
  std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const override {
    auto some = std::make_unique<DenseMap>(*this);
    some->views_ = static_cast<std::int64_t>(views.size());
    some->entries_.clear();
    const std::int64_t row = per_view_ * voxels();
    for (const std::int64_t view : views)
      some->entries_.insert(some->entries_.end(), entries_.begin() + view * row, entries_.begin() + (view + 1) * row);
    return some;
  }

private:
  TestHost& host_;
  VolumeShape shape_;
  std::int64_t views_, per_view_;
  std::vector<float> entries_;
};

using Values = std::vector<float>;

inline Values random_volume(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.1F, 1);
  Values values(static_cast<std::size_t>(n));
  for (float& value : values) value = uniform(random);
  return values;
}

struct DenseProblem {
  explicit DenseProblem(const std::string& method, std::int64_t views = 7)
      : map(host, {4, 3, 2}, views, 5, 11), kind(method_kind(method)), truth(random_volume(24, 3)) {
    options.method = method;
    data.resize(static_cast<std::size_t>(map.values()));
    map.forward(truth.data(), data.data());
  }
  // With what is in `data`, `weights` and `mask` now.
  Problem make() { return make(map, 0); }
  // Of a map of some of the values of every view, from `first` on.
  Problem make(LinearMap& some, std::int64_t first) {
    Problem problem = make_problem(some, kind, mask);
    for (std::int64_t view = 0; view < map.views(); ++view) {
      const auto part = [&](const Values& all) {
        return all.empty() ? std::span<const float>()
                           : std::span(all).subspan(static_cast<std::size_t>(view * 5 + first),
                                                    static_cast<std::size_t>(some.values_per_view()));
      };
      put_view(problem, kind, view, part(data), part(weights));
    }
    finish_views(problem, kind);
    problem.spare_bytes = spare_bytes;
    return problem;
  }

  TestHost host{1};
  DenseMap map;
  const MethodKind& kind;
  MethodOptions options;
  Values truth, data, weights, mask;
  std::int64_t spare_bytes = 1 << 20;
};

}  // namespace lepus

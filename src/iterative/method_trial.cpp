// SPDX-License-Identifier: Apache-2.0
#include "iterative/method_trial.h"

#include <algorithm>
#include <vector>

#include "iterative/iterate.h"

namespace lepus {

// Every result is another constant: methods that find nothing left to do would end early.
class MethodTrial::CountingMap final : public LinearMap {
public:
  CountingMap(const TrialProblem& whole, std::int64_t views, Device& home, Queue& queue,
              std::shared_ptr<MethodUses> uses)
      : whole_(whole), views_(views), home_(home), queue_(queue), uses_(std::move(uses)) {}

  VolumeShape shape() const override { return whole_.shape; }
  std::int64_t views() const override { return views_; }
  std::int64_t values_per_view() const override { return whole_.values_per_view; }
  bool exact_transpose() const override { return whole_.exact_transpose; }
  Device& home() const override { return home_; }
  Queue& queue() const override { return queue_; }

  void forward(const float*, float* line_integrals) override {
    uses_->forward += share();
    ++uses_->subsets;
    fill(line_integrals, values());
  }
  void adjoint(const float*, float* volume) override {
    uses_->adjoint += share();
    fill(volume, voxels());
  }
  std::unique_ptr<LinearMap> subset(std::span<const std::int64_t> views) const override {
    return std::make_unique<CountingMap>(whole_, static_cast<std::int64_t>(views.size()), home_, queue_, uses_);
  }
  void fill(float* values, std::int64_t count) {
    level_ = level_ < 1.5F ? level_ * 1.0625F : 0.5F;
    home_.vector_kernels().fill(values, level_, count, queue_);
  }

private:
  double share() const { return static_cast<double>(views_) / static_cast<double>(whole_.views); }

  TrialProblem whole_;
  std::int64_t views_;
  Device& home_;
  Queue& queue_;
  std::shared_ptr<MethodUses> uses_;
  float level_ = 0.5F;
};

MethodTrial::MethodTrial(const MethodOptions& options, const TrialProblem& trial, Device& home, Queue& queue)
    : uses_(std::make_shared<MethodUses>()),
      map_(std::make_unique<CountingMap>(trial, trial.views, home, queue, uses_)) {
  const MethodKind& kind = method_kind(options.method);
  const std::vector<float> ones(static_cast<std::size_t>(std::max(trial.shape.voxels(), trial.values_per_view)), 1.0F);
  const auto voxels = std::span(ones).first(static_cast<std::size_t>(trial.shape.voxels()));
  const auto values = std::span(ones).first(static_cast<std::size_t>(trial.values_per_view));
  problem_ = make_problem(*map_, kind, trial.masked ? voxels : std::span<const float>());
  problem_.spare_bytes = trial.spare_bytes;
  problem_.fdk = [this](const float*, float* volume) {
    ++uses_->fdk;
    map_->fill(volume, map_->voxels());
  };
  problem_.ramp = [this](float*) { ++uses_->ramp; };
  for (std::int64_t view = 0; view < trial.views; ++view)
    put_view(problem_, kind, view, values, trial.weighted ? values : std::span<const float>());
  finish_views(problem_, kind);
  if (trial.has_prior) problem_.prior = volume_from(problem_, voxels);
  if (trial.has_start) problem_.start = volume_from(problem_, voxels);
  method_ = make_method(problem_, options);
  prepare(*method_);
  method_->start();
}

MethodTrial::~MethodTrial() = default;

void MethodTrial::step() {
  method_->step();
  method_->set_iteration(method_->iteration() + 1);
  map_->queue().wait();
}

MethodUses MethodTrial::uses() const { return *uses_; }

std::int64_t MethodTrial::kept(std::int64_t size) const {
  return std::ranges::count_if(method_->kept_vectors(), [&](const auto& kept) { return kept.second->size() == size; });
}

}  // namespace lepus

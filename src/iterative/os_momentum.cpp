// SPDX-License-Identifier: Apache-2.0
// Weighted least squares by separable surrogates, subset after subset, with Nesterov's momentum: Kim, Ramani, Fessler:
// Combining ordered subsets and momentum, IEEE Trans. Med. Imaging 34 (2015). With a strength each step is followed by
// the proximal map of total variation. Subsets are not the whole: where the residual of a pass rises, the pass is taken
// back, and momentum starts anew with half of what it may reach.
#include <algorithm>
#include <cmath>

#include "iterative/bounds.h"
#include "iterative/method.h"
#include "iterative/subsets.h"

namespace lepus {
namespace {

class OsMomentum final : public Method {
public:
  OsMomentum(Problem& problem, const MethodOptions& options)
      : Method(problem, options),
        subsets_(problem, options.subsets, options.order, options.seed),
        curvatures_(problem, options.subsets) {
    if (options.strength > 0)
      for (int axis = 0; axis < 3; ++axis) dual_[axis] = volume_vector(std::string("dual ") + "xyz"[axis]);
  }

  void prepare() override {
    before_ = work_volume();
    slope_ = work_volume();
    next_ = work_volume();
    if (options_.strength <= 0) return;
    // The proximal map wants one length of step for all voxels.
    for (std::int64_t s = 0; s < subsets_.count(); ++s)
      largest_ = std::max(largest_, algebra_.largest_magnitude(curvature(s)));
    const Vector* weights = problem_.weights ? &problem_.weights : nullptr;
    if (largest_ > 0)
      strength_ = options_.strength * strength_unit(problem_, algebra_, weights) /
                  (largest_ * static_cast<double>(subsets_.count()));
  }

  void start() override {
    Method::start();
    algebra_.copy(ahead_, volume());
    t_ = 1;
    most_ = 1;
    last_ = HUGE_VAL;
  }

  double step() override {
    constexpr double rise = 1.02;  // passes near the end go up and down a little
    double squared = 0;
    algebra_.copy(before_, volume());
    for (const std::int64_t s : subsets_.order(iteration())) {
      squared += descend(s);
      if (options_.strength > 0)
        algebra_.total_variation_step(slope_, strength_, options_.low, options_.high, steps_, dual_, next_);
      else
        algebra_.copy(next_, slope_);
      bound(next_);
      const double next_t = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2, momentum = std::min(most_, (t_ - 1) / next_t);
      t_ = next_t;
      algebra_.combine(ahead_, 1 + momentum, next_, -momentum, volume());
      algebra_.copy(volume(), next_);
    }
    if (!(squared <= rise * last_)) {
      algebra_.copy(volume(), before_);
      algebra_.copy(ahead_, before_);
      t_ = 1;
      most_ /= 2;
      return std::sqrt(last_);
    }
    last_ = squared;
    return std::sqrt(squared);
  }

private:
  // slope_ = ahead_ after a step by one subset. Its squared residual.
  double descend(std::int64_t s) {
    LinearMap& some = subsets_.map(s);
    Vector& error = subsets_.work(s, error_);
    some.forward(ahead_.data(), error.data());
    algebra_.combine(error, 1, error, -1, subsets_.gather(problem_.data, s, gathered_));
    double squared = 0;
    if (problem_.weights) {
      Vector& weighted = subsets_.work(s, weighted_);
      algebra_.multiply(weighted, error, subsets_.gather(problem_.weights, s, gathered_));
      squared = algebra_.dot(weighted, error);
      some.adjoint(weighted.data(), slope_.data());
    } else {
      squared = algebra_.squared(error);
      some.adjoint(error.data(), slope_.data());
    }
    if (options_.strength <= 0) algebra_.divide(slope_, slope_, curvature(s));
    const double length = options_.strength <= 0 ? 1 : largest_ > 0 ? 1 / largest_ : 0;
    algebra_.combine(slope_, 1, ahead_, -length, slope_);
    return squared;
  }
  // Of the subset's own residual: steps by the curvature of all views over the number of subsets are too long where a
  // subset sees a voxel better than the others do.
  const Vector& curvature(std::int64_t s) {
    return curvatures_.get(s, [&](Vector& sums) {
      const Vector* weights = problem_.weights ? &subsets_.gather(problem_.weights, s, gathered_) : nullptr;
      sum_curvature(subsets_.map(s), algebra_, weights, sums);
    });
  }

  Subsets subsets_;
  SubsetVolumes curvatures_;
  Vector& ahead_ = volume_vector("ahead");
  double &t_ = scalar("t"), &most_ = scalar("most"), &last_ = scalar("last");
  Vector dual_[3];
  Vector before_, slope_, next_, error_, weighted_, gathered_;
  double strength_ = 0, largest_ = 0;
  int steps_ =
      std::max(1, options_.total_variation_steps / static_cast<int>(std::min<std::int64_t>(options_.subsets, 100)));
};

}  // namespace

std::unique_ptr<Method> make_os_momentum(Problem& problem, const MethodOptions& options) {
  return std::make_unique<OsMomentum>(problem, options);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Weighted least squares by separable surrogates, subset after subset, with Nesterov's momentum: Kim, Ramani, Fessler:
// Combining ordered subsets and momentum, IEEE Trans. Med. Imaging 34 (2015). With a strength each step is followed by
// the proximal map of total variation. Where the residual of a whole pass rises, momentum starts anew.
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
      : Method(problem, options), subsets_(problem, options.subsets, options.order, options.seed) {
    if (options.strength > 0)
      for (int axis = 0; axis < 3; ++axis) dual_[axis] = volume_vector(std::string("dual ") + "xyz"[axis]);
  }

  void prepare() override {
    const Vector* weights = problem_.weights ? &problem_.weights : nullptr;
    step_ = work_volume();
    slope_ = work_volume();
    sum_curvature(problem_, algebra_, weights, step_);
    if (options_.strength > 0) {  // the proximal map wants one length of step for all voxels
      const double curvature = algebra_.largest_magnitude(step_);
      if (curvature > 0) strength_ = options_.strength * strength_unit(problem_, algebra_, weights) / curvature;
      algebra_.fill(step_, static_cast<float>(curvature));
    }
    algebra_.fill(slope_, static_cast<float>(subsets_.count()));
    algebra_.divide(step_, slope_, step_);
    next_ = work_volume();
  }

  void start() override {
    Method::start();
    algebra_.copy(ahead_, volume());
    t_ = 1;
    last_ = HUGE_VAL;
  }

  double step() override {
    double squared = 0;
    for (const std::int64_t s : subsets_.order(iteration())) {
      squared += descend(s);
      if (options_.strength > 0)
        algebra_.total_variation_step(slope_, strength_, options_.low, options_.high, steps_, dual_, next_);
      else
        algebra_.copy(next_, slope_);
      bound(next_);
      const double next_t = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2, momentum = (t_ - 1) / next_t;
      t_ = next_t;
      algebra_.combine(ahead_, 1 + momentum, next_, -momentum, volume());
      algebra_.copy(volume(), next_);
    }
    if (squared > last_) {
      t_ = 1;
      algebra_.copy(ahead_, volume());
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
    algebra_.multiply(slope_, slope_, step_);
    algebra_.combine(slope_, 1, ahead_, -1, slope_);
    return squared;
  }

  Subsets subsets_;
  Vector& ahead_ = volume_vector("ahead");
  double &t_ = scalar("t"), &last_ = scalar("last");
  Vector dual_[3];
  Vector step_, slope_, next_, error_, weighted_, gathered_;
  double strength_ = 0;
  int steps_ =
      std::max(1, options_.total_variation_steps / static_cast<int>(std::min<std::int64_t>(options_.subsets, 100)));
};

}  // namespace

std::unique_ptr<Method> make_os_momentum(Problem& problem, const MethodOptions& options) {
  return std::make_unique<OsMomentum>(problem, options);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// |A x - b|^2 / 2 + strength TV(x) within bounds: a step down the first, the proximal map of the second, momentum.
// Beck, Teboulle: Fast gradient-based algorithms for constrained total variation, IEEE Trans. Image Process. 18 (2009).
// Momentum that leads uphill is dropped (O'Donoghue, Candes 2015).
#include <cmath>

#include "iterative/bounds.h"
#include "iterative/method.h"

namespace lepus {
namespace {

class FistaTv final : public Method {
public:
  using Method::Method;

  void prepare() override {
    curvature_ = largest_curvature(problem_, algebra_);
    strength_ = options_.strength > 0 ? options_.strength * strength_unit(problem_, algebra_, nullptr) : 0;
    error_ = work_data();
    slope_ = work_volume();
    next_ = work_volume();
  }

  void start() override {
    Method::start();
    algebra_.copy(ahead_, volume());
    t_ = 1;
  }

  double step() override {
    map().forward(ahead_.data(), error_.data());
    algebra_.combine(error_, 1, error_, -1, problem_.data);
    map().adjoint(error_.data(), slope_.data());
    if (curvature_ > 0) algebra_.combine(slope_, 1, ahead_, -1 / curvature_, slope_);
    algebra_.total_variation_step(slope_, curvature_ > 0 ? strength_ / curvature_ : 0, options_.low, options_.high,
                                  options_.total_variation_steps, dual_, next_);
    if (problem_.mask) algebra_.multiply(next_, next_, problem_.mask);
    // slope_ = the step, ahead_ = where momentum led minus where the step ends
    algebra_.combine(slope_, 1, next_, -1, volume());
    algebra_.combine(ahead_, 1, ahead_, -1, next_);
    if (algebra_.dot(ahead_, slope_) > 0) t_ = 1;
    const double next_t = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2;
    algebra_.combine(ahead_, 1, next_, (t_ - 1) / next_t, slope_);
    t_ = next_t;
    algebra_.copy(volume(), next_);
    return std::sqrt(algebra_.squared(error_));
  }

private:
  Vector& ahead_ = volume_vector("ahead");
  double& t_ = scalar("t");
  Vector dual_[3] = {volume_vector("dual x"), volume_vector("dual y"), volume_vector("dual z")};
  Vector error_, slope_, next_;
  double curvature_ = 0, strength_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_fista_tv(Problem& problem, const MethodOptions& options) {
  return std::make_unique<FistaTv>(problem, options);
}

}  // namespace lepus

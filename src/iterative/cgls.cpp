// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients for least squares, |F (A x - b)|^2 + damping |x|^2: Hestenes, Stiefel, J. Res. Natl. Bur. Stand.
// 49 (1952). F: nothing, or the root of the ramp filter along rows: then A' F'F A is near the identity, and a few
// iterations do what plain ones need many for.
#include <cmath>

#include "iterative/bounds.h"
#include "iterative/method.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class Cgls final : public Method {
public:
  Cgls(Problem& problem, const MethodOptions& options, bool filtered)
      : Method(problem, options),
        filtered_(filtered),
        residual_(data_vector("residual")),
        // F'F residual, where it is another one
        weighted_(filtered ? data_vector("filtered residual") : residual_),
        direction_(volume_vector("direction")),
        gamma_(scalar("gamma")) {}

  void prepare() override {
    image_ = work_data();
    filtered_image_ = filtered_ ? work_data() : Vector();
    slope_ = work_volume();
    if (options_.strength > 0) damping_ = options_.strength * largest_curvature(problem_, algebra_, filtered_);
  }

  void start() override {
    Method::start();
    map().forward(volume().data(), residual_.data());
    algebra_.combine(residual_, -1, residual_, 1, problem_.data);
    if (filtered_) filter(residual_, weighted_);
    gamma_ = descend();
    algebra_.copy(direction_, slope_);
  }

  double step() override {
    map().forward(direction_.data(), image_.data());
    if (filtered_) filter(image_, filtered_image_);
    const double curvature = algebra_.dot(image_, filtered_ ? filtered_image_ : image_) +
                             (damping_ > 0 ? damping_ * algebra_.squared(direction_) : 0);
    if (gamma_ == 0 || curvature == 0) return std::sqrt(algebra_.squared(residual_));  // it is there
    const double length = gamma_ / curvature;
    algebra_.combine(volume(), 1, volume(), length, direction_);
    algebra_.combine(residual_, 1, residual_, -length, image_);
    if (filtered_) algebra_.combine(weighted_, 1, weighted_, -length, filtered_image_);
    const double before = gamma_;
    gamma_ = descend();
    algebra_.combine(direction_, 1, slope_, gamma_ / before, direction_);
    return std::sqrt(algebra_.squared(residual_));
  }

private:
  void filter(const Vector& from, Vector& to) {
    algebra_.copy(to, from);
    problem_.ramp(to.data());
  }
  // The steepest descent of the objective into slope_; its squared length.
  double descend() {
    map().adjoint(weighted_.data(), slope_.data());
    if (damping_ > 0) algebra_.combine(slope_, 1, slope_, -damping_, volume());
    return algebra_.squared(slope_);
  }

  bool filtered_;
  Vector &residual_, &weighted_, &direction_;
  double& gamma_;
  Vector image_, filtered_image_, slope_;
  double damping_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_cgls(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Cgls>(problem, options, false);
}

std::unique_ptr<Method> make_ramp_cgls(Problem& problem, const MethodOptions& options) {
  if (!problem.ramp)
    throw Error(ErrorKind::unsupported, {.what = "there is no ramp filter for this scan",
                                         .where = "method ramp-cgls",
                                         .why = "its rows cannot be filtered as they were recorded",
                                         .hint = "take cgls"});
  return std::make_unique<Cgls>(problem, options, true);
}

}  // namespace lepus

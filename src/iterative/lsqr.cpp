// SPDX-License-Identifier: Apache-2.0
// Least squares by Golub and Kahan's bidiagonalisation, |A x - b|^2 + damping |x|^2: Paige, Saunders, ACM Trans. Math.
// Softw. 8 (1982); their letters. The same as CGLS on paper, better behaved where A is nearly singular.
#include <algorithm>
#include <cmath>

#include "iterative/bounds.h"
#include "iterative/method.h"

namespace lepus {
namespace {

// Damping is theirs, of the way from where it starts, which is x itself where it starts with nothing. From a volume x0
// the rows of the damping have a right-hand side of their own, -damp x0, so that they are part of the matrix, and of u.
class Lsqr final : public Method {
public:
  Lsqr(Problem& problem, const MethodOptions& options)
      : Method(problem, options), below_(options.strength > 0 && problem.start ? &volume_vector("u below") : nullptr) {}

  void prepare() override {
    image_ = work_data();
    slope_ = work_volume();
    if (options_.strength > 0) damp_ = std::sqrt(options_.strength * largest_curvature(problem_, algebra_));
  }

  void start() override {
    Method::start();
    map().forward(volume().data(), u_.data());
    algebra_.combine(u_, -1, u_, 1, problem_.data);
    if (below_) algebra_.combine(*below_, -damp_, volume(), 0, volume());
    phibar_ = normalise_u();
    transpose_of_u(v_);
    alpha_ = normalise(v_);
    rhobar_ = alpha_;
    algebra_.copy(w_, v_);
  }

  double step() override {
    if (alpha_ == 0 || phibar_ == 0) return residual();  // it is there
    map().forward(v_.data(), image_.data());
    algebra_.combine(u_, 1, image_, -alpha_, u_);
    if (below_) algebra_.combine(*below_, damp_, v_, -alpha_, *below_);
    const double beta = normalise_u();
    transpose_of_u(slope_);
    algebra_.combine(v_, 1, slope_, -beta, v_);
    alpha_ = normalise(v_);

    const double damp = below_ ? 0 : damp_;
    const double damped = std::hypot(rhobar_, damp);
    lost_ = std::hypot(lost_, damp / damped * phibar_);
    phibar_ *= rhobar_ / damped;
    const double rho = std::hypot(damped, beta);
    const double c = damped / rho, s = beta / rho;
    const double phi = c * phibar_;
    rhobar_ = -c * alpha_;
    phibar_ *= s;
    algebra_.combine(volume(), 1, volume(), phi / rho, w_);
    algebra_.combine(w_, 1, v_, -s * alpha_ / rho, w_);
    return residual();
  }

private:
  double normalise(Vector& vector) {
    const double length = std::sqrt(algebra_.squared(vector));
    if (length > 0) algebra_.scale(vector, 1 / length);
    return length;
  }
  double normalise_u() {
    if (!below_) return normalise(u_);
    const double length = std::sqrt(algebra_.squared(u_) + algebra_.squared(*below_));
    if (length > 0) {
      algebra_.scale(u_, 1 / length);
      algebra_.scale(*below_, 1 / length);
    }
    return length;
  }
  void transpose_of_u(Vector& out) {
    map().adjoint(u_.data(), out.data());
    if (below_) algebra_.combine(out, 1, out, damp_, *below_);
  }
  // phibar and lost are of all rows; those of the damping leave damp x.
  double residual() {
    if (damp_ == 0) return std::hypot(phibar_, lost_);
    const double all = phibar_ * phibar_ + lost_ * lost_;
    return std::sqrt(std::max(0.0, all - damp_ * damp_ * algebra_.squared(volume())));
  }

  Vector &u_ = data_vector("u"), &v_ = volume_vector("v"), &w_ = volume_vector("w");
  Vector* below_;  // of u, the rows of the damping
  double &alpha_ = scalar("alpha"), &rhobar_ = scalar("rhobar"), &phibar_ = scalar("phibar"), &lost_ = scalar("lost");
  Vector image_, slope_;
  double damp_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_lsqr(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Lsqr>(problem, options);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Least squares by Golub and Kahan's bidiagonalisation, |A x - b|^2 + damping |x - x0|^2: Paige, Saunders, ACM Trans.
// Math. Softw. 8 (1982); their letters. The same as CGLS on paper, better behaved where A is nearly singular.
#include <cmath>

#include "iterative/bounds.h"
#include "iterative/method.h"

namespace lepus {
namespace {

class Lsqr final : public Method {
public:
  using Method::Method;

  void prepare() override {
    image_ = work_data();
    slope_ = work_volume();
    if (options_.strength > 0) damp_ = std::sqrt(options_.strength * largest_curvature(problem_, algebra_));
  }

  void start() override {
    Method::start();
    map().forward(volume().data(), u_.data());
    algebra_.combine(u_, -1, u_, 1, problem_.data);
    phibar_ = normalise(u_);
    map().adjoint(u_.data(), v_.data());
    alpha_ = normalise(v_);
    rhobar_ = alpha_;
    algebra_.copy(w_, v_);
  }

  double step() override {
    if (alpha_ == 0 || phibar_ == 0) return residual();  // it is there
    map().forward(v_.data(), image_.data());
    algebra_.combine(u_, 1, image_, -alpha_, u_);
    const double beta = normalise(u_);
    map().adjoint(u_.data(), slope_.data());
    algebra_.combine(v_, 1, slope_, -beta, v_);
    alpha_ = normalise(v_);

    const double damped = std::hypot(rhobar_, damp_);
    lost_ = std::hypot(lost_, damp_ / damped * phibar_);
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
  // Of the system; with damping, of the system that has the damping's rows.
  double residual() const { return std::hypot(phibar_, lost_); }

  Vector &u_ = data_vector("u"), &v_ = volume_vector("v"), &w_ = volume_vector("w");
  double &alpha_ = scalar("alpha"), &rhobar_ = scalar("rhobar"), &phibar_ = scalar("phibar"), &lost_ = scalar("lost");
  Vector image_, slope_;
  double damp_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_lsqr(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Lsqr>(problem, options);
}

}  // namespace lepus

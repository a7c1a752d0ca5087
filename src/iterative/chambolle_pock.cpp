// SPDX-License-Identifier: Apache-2.0
// |A x - b|^2 / 2 + strength [(1 - share) TV(x) + share TV(x - prior)] within bounds, by the primal-dual method of
// Chambolle, Pock, J. Math. Imaging Vis. 40 (2011), with steps from the sums of rows and columns (Pock, Chambolle, ICCV
// 2011): any map without negative entries, and no norm to be found. TV counts differences below `huber` squared. The
// prior: Chen, Tang, Leng, Med. Phys. 35 (2008), PICCS.
#include <cmath>
#include <optional>

#include "iterative/bounds.h"
#include "iterative/method.h"

namespace lepus {
namespace {

constexpr double gradient_column_sum = 6;  // a voxel is in two differences along each axis
constexpr double gradient_row_sum = 2;

class ChambollePock final : public Method {
public:
  ChambollePock(Problem& problem, const MethodOptions& options) : Method(problem, options) {
    const double share = problem.prior ? options.prior_share : 0;
    if (options.strength > 0 && share < 1) smooth_.emplace(*this, "smooth", 1 - share);
    if (options.strength > 0 && share > 0) near_.emplace(*this, "near", share);
  }

  void prepare() override {
    const double unit = options_.strength > 0 ? options_.strength * strength_unit(problem_, algebra_, nullptr) : 0;
    Vector ones = work_data();
    algebra_.fill(ones, 1);
    primal_step_ = work_volume();
    map().adjoint(ones.data(), primal_step_.data());
    // The gradient is scaled to weigh as much as the map.
    scale_ = algebra_.largest_magnitude(primal_step_) / gradient_column_sum;
    work_ = work_volume();
    algebra_.fill(work_, 1);
    const double terms = (smooth_ ? 1 : 0) + (near_ ? 1 : 0);
    algebra_.combine(primal_step_, 1, primal_step_, terms * gradient_column_sum * scale_, work_);
    algebra_.divide(primal_step_, work_, primal_step_);
    error_ = work_data();
    dual_step_ = work_data();
    map().forward(work_.data(), error_.data());
    algebra_.divide(dual_step_, ones, error_);
    shrink_ = work_data();
    algebra_.combine(shrink_, 1, dual_step_, 1, ones);
    algebra_.divide(shrink_, ones, shrink_);
    for (std::optional<Variation>* term : {&smooth_, &near_})
      if (*term) (*term)->strength = unit * (*term)->share;
    if (smooth_ || near_)
      for (Vector& part : differences_) part = work_volume();
  }

  void start() override {
    Method::start();
    algebra_.copy(ahead_, volume());
  }

  double step() override {
    map().forward(ahead_.data(), error_.data());
    algebra_.combine(error_, 1, error_, -1, problem_.data);
    const double residual = std::sqrt(algebra_.squared(error_));
    algebra_.multiply(error_, error_, dual_step_);
    algebra_.combine(dual_, 1, dual_, 1, error_);
    algebra_.multiply(dual_, dual_, shrink_);
    if (smooth_) rise(*smooth_, ahead_);
    if (near_) {
      algebra_.combine(work_, 1, ahead_, -1, problem_.prior);
      rise(*near_, work_);
    }
    map().adjoint(dual_.data(), work_.data());
    for (const std::optional<Variation>* term : {&smooth_, &near_})
      if (*term) {
        algebra_.divergence((*term)->dual, differences_[0]);
        algebra_.combine(work_, 1, work_, -scale_, differences_[0]);
      }
    algebra_.multiply(work_, work_, primal_step_);
    algebra_.combine(work_, 1, volume(), -1, work_);
    bound(work_);
    algebra_.combine(ahead_, 2, work_, -1, volume());
    algebra_.copy(volume(), work_);
    return residual;
  }

private:
  struct Variation {
    Variation(ChambollePock& method, const std::string& name, double part)
        : dual{method.volume_vector(name + " x"), method.volume_vector(name + " y"), method.volume_vector(name + " z")},
          share(part) {}
    Vector dual[3];
    double share, strength = 0;
  };

  // One step up the dual of the total variation of `volume`.
  void rise(Variation& term, const Vector& volume) {
    const double step = 1 / (gradient_row_sum * scale_);
    algebra_.gradient(volume, differences_);
    for (int axis = 0; axis < 3; ++axis)
      algebra_.combine(term.dual[axis], 1, term.dual[axis], step * scale_, differences_[axis]);
    const double huber = 1 / (1 + step * options_.huber * scale_ * scale_ / term.strength);
    algebra_.limit_length(term.dual, huber, term.strength / scale_);
  }

  Vector &ahead_ = volume_vector("ahead"), &dual_ = data_vector("dual");
  std::optional<Variation> smooth_, near_;
  Vector primal_step_, dual_step_, shrink_, error_, work_, differences_[3];
  double scale_ = 1;
};

}  // namespace

std::unique_ptr<Method> make_chambolle_pock(Problem& problem, const MethodOptions& options) {
  return std::make_unique<ChambollePock>(problem, options);
}

}  // namespace lepus

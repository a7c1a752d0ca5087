// SPDX-License-Identifier: Apache-2.0
// FDK, then FDK of what its projections leave of the measured ones, and so on: x += relaxation FDK(b - A x). The first
// iteration from zero is FDK itself; the next ones take away cone-beam artefacts and the blur of the interpolation.
#include <cmath>

#include "iterative/method.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class IterativeFdk final : public Method {
public:
  using Method::Method;

  void prepare() override {
    error_ = work_data();
    step_ = work_volume();
  }

  double step() override {
    map().forward(volume().data(), error_.data());
    algebra_.combine(error_, -1, error_, 1, problem_.data);
    const double residual = std::sqrt(algebra_.squared(error_));
    problem_.fdk(error_.data(), step_.data());
    algebra_.combine(volume(), 1, volume(), options_.relaxation, step_);
    bound(volume());
    return residual;
  }

private:
  Vector error_, step_;
};

}  // namespace

std::unique_ptr<Method> make_iterative_fdk(Problem& problem, const MethodOptions& options) {
  if (!problem.fdk)
    throw Error(ErrorKind::unsupported, {.what = "there is no FDK for this scan",
                                         .where = "method iterative-fdk",
                                         .why = "its views cannot be filtered",
                                         .hint = "take os-sart"});
  return std::make_unique<IterativeFdk>(problem, options);
}

}  // namespace lepus

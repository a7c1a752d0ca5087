// SPDX-License-Identifier: Apache-2.0
// The simultaneous algebraic reconstruction technique, by subsets of the views: each line integral's error, over the
// length of its ray in the volume, is spread back over the ray. One subset: SIRT; one view each: SART.
//   x += relaxation C A' W R (b - A x),  R = 1 / (A 1),  C = 1 / (A' W 1)
// Andersen, Kak: Simultaneous algebraic reconstruction technique, Ultrasonic Imaging 6 (1984). Rays that miss the
// volume and voxels that no ray meets have no say.
#include <cmath>

#include "iterative/method.h"
#include "iterative/subsets.h"

namespace lepus {
namespace {

class Sart final : public Method {
public:
  Sart(Problem& problem, const MethodOptions& options, std::int64_t count)
      : Method(problem, options), subsets_(problem, count, options.order, options.seed), column_sums_(problem, count) {}

  void prepare() override {
    Vector ones = work_volume(), length = work_data();
    algebra_.fill(ones, 1);
    map().forward(ones.data(), length.data());
    gain_ = work_data();
    if (!problem_.weights) algebra_.fill(gain_, 1);
    algebra_.divide(gain_, problem_.weights ? problem_.weights : gain_, length);
  }

  double step() override {
    double squared = 0;
    for (const std::int64_t s : subsets_.order(iteration())) {
      LinearMap& some = subsets_.map(s);
      Vector& error = subsets_.work(s, error_);
      some.forward(volume().data(), error.data());
      algebra_.combine(error, -1, error, 1, subsets_.gather(problem_.data, s, gathered_));
      squared += weighted_square(error, s);
      algebra_.multiply(error, error, subsets_.gather(gain_, s, gathered_));
      const Vector& column_sums = column_sums_.get(s, [&](Vector& sums) { sum_columns(s, sums); });
      each_slab(some, error, step_memory_, [&](Vector& step, Vector& x, std::int64_t first) {
        algebra_.divide(step, step, column_sums.part(first, step.size()));
        algebra_.combine(x, 1, x, options_.relaxation, step);
        bound(x, first);
      });
    }
    return std::sqrt(squared);
  }

private:
  double weighted_square(const Vector& error, std::int64_t s) {
    if (!problem_.weights) return algebra_.squared(error);
    Vector& weighted = subsets_.work(s, weighted_);
    algebra_.multiply(weighted, error, subsets_.gather(problem_.weights, s, gathered_));
    return algebra_.dot(weighted, error);
  }
  void sum_columns(std::int64_t s, Vector& sums) {
    if (problem_.weights) {
      subsets_.map(s).adjoint(subsets_.gather(problem_.weights, s, gathered_).data(), sums.data());
      return;
    }
    Vector& ones = subsets_.work(s, weighted_);
    algebra_.fill(ones, 1);
    subsets_.map(s).adjoint(ones.data(), sums.data());
  }

  Subsets subsets_;
  SubsetVolumes column_sums_;
  Vector gain_, error_, gathered_, weighted_;
  Block step_memory_;
};

}  // namespace

std::unique_ptr<Method> make_sirt(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Sart>(problem, options, 1);
}
std::unique_ptr<Method> make_sart(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Sart>(problem, options, problem.map->views());
}
std::unique_ptr<Method> make_os_sart(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Sart>(problem, options, options.subsets);
}

}  // namespace lepus

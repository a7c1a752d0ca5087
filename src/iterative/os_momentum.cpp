// SPDX-License-Identifier: Apache-2.0
// Weighted least squares by separable surrogates, subset after subset, with Nesterov's momentum: Kim, Ramani, Fessler:
// Combining ordered subsets and momentum, IEEE Trans. Med. Imaging 34 (2015). With a strength each step is followed by
// the proximal map of total variation. Subsets are not the whole: where the residual of a pass rises, the pass is taken
// back, and momentum starts anew with half of what it may reach. Where the next one from there rises, too, it is the
// pass before that led away at its end: that one is taken back as well. Total variation leaves more of the data than a
// start may have left: with a strength a pass rises where it leaves more than an empty volume does.
#include <algorithm>
#include <cmath>
#include <utility>

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
    empty_ = measure(nullptr);
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
    algebra_.copy(earlier_, volume());
    t_ = 1;
    most_ = 1;
    last_ = earlier_last_ = measure(problem_.start ? &volume() : nullptr);
  }

  double step() override {
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
    if (!rises(squared, last_)) {
      std::swap(earlier_, before_);
      earlier_last_ = std::exchange(last_, std::min(last_, squared));
      passes_back_ = 0;
      return std::sqrt(squared);
    }
    if (passes_back_ != 1) {
      go_back_to(before_);
      passes_back_ = 1;
    } else {
      go_back_before_last_pass();
    }
    return std::sqrt(last_);
  }

  bool taken_back() const override { return passes_back_ > 0; }

  std::optional<double> settle() override {
    if (subsets_.count() == 1) return {};  // a step cannot lead away
    const double squared = measure(&volume());
    if (!rises(squared, earlier_last_)) return std::sqrt(squared);
    go_back_before_last_pass();
    return std::sqrt(measure(&volume()));
  }

private:
  // Passes near the end go up and down a little.
  bool rises(double squared, double from) const {
    return !(squared <= 1.02 * (options_.strength > 0 ? std::max(from, empty_) : from));
  }
  void go_back_to(const Vector& earlier) {
    algebra_.copy(volume(), earlier);
    algebra_.copy(ahead_, earlier);
    t_ = 1;
    most_ /= 2;
  }
  void go_back_before_last_pass() {
    go_back_to(earlier_);
    for (Vector& part : dual_)
      if (part) algebra_.fill(part, 0);
    last_ = earlier_last_;
    passes_back_ = 2;
  }

  struct SubsetError {
    Vector& weighted;
    double squared;
  };
  // A x - b of a subset; null: of an empty volume.
  SubsetError error_of(std::int64_t s, const Vector* x) {
    Vector& error = subsets_.work(s, error_);
    const Vector& data = subsets_.gather(problem_.data, s, gathered_);
    if (x) subsets_.map(s).forward(x->data(), error.data());
    algebra_.combine(error, x ? 1 : 0, x ? error : data, -1, data);
    if (!problem_.weights) return {error, algebra_.squared(error)};
    Vector& weighted = subsets_.work(s, weighted_);
    algebra_.multiply(weighted, error, subsets_.gather(problem_.weights, s, gathered_));
    return {weighted, algebra_.dot(weighted, error)};
  }
  // The squared residual of a volume by all views.
  double measure(const Vector* x) {
    double squared = 0;
    for (std::int64_t s = 0; s < subsets_.count(); ++s) squared += error_of(s, x).squared;
    return squared;
  }
  // slope_ = ahead_ after a step by one subset. Its squared residual.
  double descend(std::int64_t s) {
    const SubsetError error = error_of(s, &ahead_);
    subsets_.map(s).adjoint(error.weighted.data(), slope_.data());
    if (options_.strength <= 0) algebra_.divide(slope_, slope_, curvature(s));
    const double length = options_.strength <= 0 ? 1 : largest_ > 0 ? 1 / largest_ : 0;
    algebra_.combine(slope_, 1, ahead_, -length, slope_);
    return error.squared;
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
  // earlier_: the volume before the last pass that was not taken back. last_: the least that a pass measured;
  // earlier_last_: before that pass.
  Vector &ahead_ = volume_vector("ahead"), &earlier_ = volume_vector("earlier");
  double &t_ = scalar("t"), &most_ = scalar("most"), &last_ = scalar("last"), &earlier_last_ = scalar("earlier last"),
         &passes_back_ = scalar("passes back");  // 1: the last pass was taken back; 2: and the one before it
  Vector dual_[3];
  Vector before_, slope_, next_, error_, weighted_, gathered_;
  double strength_ = 0, largest_ = 0, empty_ = 0;  // empty_: the squared residual of an empty volume
  int steps_ =
      std::max(1, options_.total_variation_steps / static_cast<int>(std::min<std::int64_t>(options_.subsets, 100)));
};

}  // namespace

std::unique_ptr<Method> make_os_momentum(Problem& problem, const MethodOptions& options) {
  return std::make_unique<OsMomentum>(problem, options);
}

}  // namespace lepus

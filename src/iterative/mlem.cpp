// SPDX-License-Identifier: Apache-2.0
// Maximum likelihood by expectation maximisation: x *= A' (b / A x) / A' 1. Shepp, Vardi, IEEE Trans. Med. Imaging 1
// (1982); subsets: Hudson, Larkin, IEEE Trans. Med. Imaging 13 (1994). The line integrals are taken for counts, so none
// is below zero, and the volume stays above zero: where a volume to start with has nothing, a little is put, which
// steps can multiply. A ray that meets nothing (A x = 0) has no say, whatever it counted, and voxels that a subset does
// not see stay as they are.
#include <cmath>

#include "iterative/method.h"
#include "iterative/subsets.h"

namespace lepus {
namespace {

class Mlem final : public Method {
public:
  Mlem(Problem& problem, const MethodOptions& options, std::int64_t count)
      : Method(problem, options), subsets_(problem, count, options.order, options.seed), sensitivity_(problem, count) {}

  void start() override {
    constexpr double little = 0.01;  // of the root mean square
    const double mean =
        problem_.start ? std::sqrt(algebra_.squared(problem_.start) / algebra_.count(problem_.start)) : 0;
    algebra_.fill(volume(), 1);
    if (mean > 0) {
      algebra_.copy(volume(), problem_.start);
      algebra_.clamp(volume(), little * mean, HUGE_VAL);
    }
    if (problem_.mask) algebra_.multiply(volume(), volume(), problem_.mask);
  }

  double step() override {
    double squared = 0;
    for (const std::int64_t s : subsets_.order(iteration())) {
      LinearMap& some = subsets_.map(s);
      Vector& ratio = subsets_.work(s, ratio_);
      Vector& residual = subsets_.work(s, residual_);
      const Vector& seen = sensitivity_.get(s, [&](Vector& sums) {
        algebra_.fill(ratio, 1);
        some.adjoint(ratio.data(), sums.data());
      });
      const Vector& data = subsets_.gather(problem_.data, s, gathered_);
      some.forward(volume().data(), ratio.data());
      algebra_.combine(residual, 1, data, -1, ratio);
      squared += algebra_.squared(residual);
      algebra_.divide(ratio, data, ratio);
      each_slab(some, ratio, factor_memory_, [&](Vector& factor, Vector& x, std::int64_t first) {
        const Vector seen_here = seen.part(first, factor.size());
        // x += x (factor - seen) / seen: nothing where nothing is seen.
        algebra_.combine(factor, 1, factor, -1, seen_here);
        algebra_.divide(factor, factor, seen_here);
        algebra_.multiply(factor, factor, x);
        algebra_.combine(x, 1, x, 1, factor);
      });
    }
    return std::sqrt(squared);
  }

private:
  Subsets subsets_;
  SubsetVolumes sensitivity_;
  Vector ratio_, residual_, gathered_;
  Block factor_memory_;
};

}  // namespace

std::unique_ptr<Method> make_mlem(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Mlem>(problem, options, 1);
}
std::unique_ptr<Method> make_osem(Problem& problem, const MethodOptions& options) {
  return std::make_unique<Mlem>(problem, options, options.subsets);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// A method on a map that computes nothing, for plans: how often it uses the operator, FDK and the ramp filter, which
// vectors its saved state has, and, with vectors of some size, how long it takes beside these.
#pragma once

#include <cstdint>
#include <memory>

#include "iterative/method.h"

namespace lepus {

// In passes over all views; a subset is a part of one.
struct MethodUses {
  double forward = 0, adjoint = 0, fdk = 0, ramp = 0;
  std::int64_t subsets = 0;  // calls of forward
};

struct TrialProblem {
  VolumeShape shape;
  std::int64_t views = 1, values_per_view = 1;
  bool weighted = false, masked = false, has_prior = false, has_start = false;
  bool exact_transpose = true;
  std::int64_t spare_bytes = 0;  // as Problem's
};

class MethodTrial {
public:
  // Prepares the method and starts it, with vectors in memory of `home`. Throws Error(usage) for choices that the
  // method does not have.
  MethodTrial(const MethodOptions& options, const TrialProblem& problem, Device& home, Queue& queue);
  ~MethodTrial();

  void step();              // one iteration; its work is done when it returns
  MethodUses uses() const;  // since it was made
  // How many vectors of this many values a saved state has.
  std::int64_t kept(std::int64_t size) const;

private:
  class CountingMap;

  std::shared_ptr<MethodUses> uses_;
  std::unique_ptr<CountingMap> map_;
  Problem problem_;
  std::unique_ptr<Method> method_;
};

}  // namespace lepus

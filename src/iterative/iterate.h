// SPDX-License-Identifier: Apache-2.0
// The loop around a method: iterations until one of the rules to stop holds, with progress, saved states and the last
// good volume where a method diverges.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "iterative/method.h"
#include <lepus/progress.h>

namespace lepus {

struct IterateHooks {
  Progress* progress = nullptr;        // null: nobody is told
  const CancelFlag* cancel = nullptr;  // looked at between iterations
  // After every `save_every` whole iterations, and after the one in which it was cancelled. 0: only then.
  std::int64_t save_every = 0;
  std::function<void(Method&)> save = {};
  std::function<void(Method&)> restore = {};  // a saved state; empty: from the start
  // After every whole iteration, with its residual; false: stop there.
  std::function<bool(Method&, double residual)> go_on = {};
};

struct IterateReport {
  std::vector<double> residuals;  // of this run's iterations, |A x - b| / |b|, weighted as the method does
  std::int64_t iterations = 0;    // all, those before a restart too
  std::string stopped;            // why, for people
  bool diverged = false, cancelled = false;
  double seconds = 0;
};

// Prepares, starts or restores, and iterates. Where it diverges the method's volume is the one
// of the smallest residual;
// where it is cancelled the volume is that of the last whole iteration, and the state was saved.
IterateReport iterate(Method& method, Problem& problem, const MethodOptions& options, const IterateHooks& hooks = {});

}  // namespace lepus

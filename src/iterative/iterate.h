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

struct IterateReport {
  std::vector<double> residuals;  // |A x - b| / |b| of all iterations, weighted as the method does
  std::int64_t iterations = 0;
  double change = 0;    // of the volume in the last one, where a rule to stop asks for it; taken back: infinite
  std::string stopped;  // why, for people
  bool diverged = false, cancelled = false;
  bool taken_back = false;  // the last iteration led away from the data, and the volume is an earlier, worse one
  double seconds = 0;
};

// When to save: after so many iterations, or so many seconds after the last time. Both 0: as often as it takes a
// hundredth of the time, but not more than once a minute.
struct SaveRule {
  std::int64_t iterations = 0;
  double seconds = 0;
};

struct IterateHooks {
  Progress* progress = nullptr;        // null: nobody is told
  const CancelFlag* cancel = nullptr;  // looked at between iterations
  SaveRule save_rule = {};
  // By the rule, and after the iteration in which it was cancelled.
  std::function<void(Method&, const IterateReport&)> save = {};
  // A saved state into the method; what was done up to there. Empty: from the start.
  std::function<IterateReport(Method&)> restore = {};
  // After every whole iteration, with its residual; false: stop there.
  std::function<bool(Method&, double residual)> go_on = {};
};

// The iteration that fitted the data best, where a method that does nothing else has a residual half as large again at
// its end: too little to be lost, but every iteration since has made the volume worse. 0: there is none.
std::int64_t iteration_before_rise(const MethodOptions& options, const std::vector<double>& residuals);

// All that does not change from one iteration to the next, and every vector that a saved state has: what a state is
// loaded into. iterate() does it, too.
void prepare(Method& method);

// Prepares, starts or restores, and iterates; the report is that of all iterations, those before a restart too. Where
// it diverges the method's volume is the one of the smallest residual; where it is cancelled the volume is that of the
// last whole iteration, and the state was saved.
IterateReport iterate(Method& method, Problem& problem, const MethodOptions& options, const IterateHooks& hooks = {});

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The headline problems of the literature, run again here: each with its published time beside ours. On a GPU at full
// size; where there is none, scaled down, and the published time with it. docs/papers.md says what each problem is.
#pragma once

#include <string>
#include <vector>

#include "core/context.h"
#include "bench/measure/report.h"
#include <lepus/options.h>

namespace lepus::bench {

struct PapersOptions {
  std::string backend = "auto";           // a kind of device, or "auto", as open_devices has them
  int device = 0;                         // which GPU
  Precision precision = Precision::fast;  // of a GPU: the texture unit's weights, as those authors had them
  double scale = 0;  // of every length: volume, detector, views; 0: 1 on a GPU, 1/4 on a CPU; else 0.08 to 1
  std::string only;  // one of paper_names; empty: all
  int repeats = 3;   // the best counts
};

// Throws Error(usage) for options that contradict each other, Error(unsupported) where a GPU is asked for that cannot
// be used. A result that is wrong does not throw: its figure says so. The report's command is the caller's to fill in.
measure::Report run_papers(const PapersOptions& options, Context& context);

}  // namespace lepus::bench

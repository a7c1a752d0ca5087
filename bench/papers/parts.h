// SPDX-License-Identifier: Apache-2.0
// What the problems of papers.h share: how they are scaled, what stands beside their times, how their best is found.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"
#include "bench/measure/clock.h"
#include "bench/measure/report.h"
#include <lepus/options.h>

namespace lepus::bench {

struct PaperRun {
  std::string kind = "cpu";  // of the device that computes
  bool gpu = false;          // it is not the host
  int device = 0;
  Precision precision = Precision::fast;
  double scale = 1;
  int repeats = 3;
  Context& context;  // silent: each problem has steps of its own

  std::string how() const;  // "cuda, fast" or "cpu"
};

std::vector<measure::Figure> rabbitct_paper(const PaperRun& run);
std::vector<measure::Figure> michigan_paper(const PaperRun& run);
std::vector<measure::Figure> paris_paper(const PaperRun& run);
std::vector<measure::Figure> projector_paper(const PaperRun& run);
std::vector<measure::Figure> iowa_paper(const PaperRun& run);
std::vector<measure::Figure> filters_paper(const PaperRun& run);

// n times the scale, at least `minimum`.
std::int64_t scaled(std::int64_t n, double scale, std::int64_t minimum);

// Puts a published time beside the figure. work_ratio is the share of the paper's work that was done here: where it is
// not 1, the published time is multiplied by it and the note says so.
void put_published(measure::Figure& figure, double seconds, const std::string& who, double work_ratio);
void add_note(measure::Figure& figure, const std::string& note);

// Host memory, page-locked where a GPU computes.
std::shared_ptr<float> host_floats(const PaperRun& run, std::int64_t count);

// The best of the run's repeats. A GPU's first run, which loads kernels and takes memory, does not count.
template <class Work>
double best_of_repeats(const PaperRun& run, const Work& work) {
  if (run.gpu) work();
  return measure::best_seconds(run.repeats, [&] {
    run.context.cancel.check();
    work();
  });
}

// The larger of both; once it is not a number it stays so, and fails every comparison.
inline void keep_worst(double& worst, double error) {
  if (!(error <= worst) && !std::isnan(worst)) worst = error;
}

}  // namespace lepus::bench

// SPDX-License-Identifier: Apache-2.0
// The problems of the literature on a GPU, scaled down: right in every precision. `lepus bench papers` runs them whole.
#include <cstdio>

#include <gtest/gtest.h>

#include "bench/papers/papers.h"
#include "need_device.h"

namespace lepus::bench {
namespace {

TEST(papers_gpu, all_are_right) {
  NEED_DEVICE();
  ThreadPool threads;
  const CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
    PapersOptions options;
    options.backend = "cuda";
    options.scale = 0.15;
    options.repeats = 1;
    options.precision = precision;
    for (const measure::Figure& f : run_papers(options, context).figures) {
      EXPECT_TRUE(f.correct()) << f.group << ", " << f.name << ": " << f.note;
      std::printf("%-20s %-28s %.5f s, error %.2e, limit %.0e\n", f.group.c_str(), f.name.c_str(), f.seconds, f.error,
                  f.error_limit);
    }
  }
}

}  // namespace
}  // namespace lepus::bench

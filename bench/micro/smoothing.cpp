// SPDX-License-Identifier: Apache-2.0
// The smoothing filters on one row of a sinogram, radius 30, one thread.
#include "checked.h"
#include "bench/suite/smoothing.h"

namespace lepus::micro {
namespace {

void smooth_a_row(benchmark::State& state) {
  const bench::SmoothingCase& c = bench::smoothing_cases[static_cast<std::size_t>(state.range(0))];
  ThreadPool one(1);
  bench::NoisyPictures in(bench::sinogram_columns, 1), out = in, expected = in;
  const FilterOptions options = bench::smoothing_options(c);
  filter(in.planes(), out.planes(), options, one);
  reference::filter(in.planes(), expected.planes(), options);
  if (!is_right(state, bench::largest_difference(out.values, expected.values), bench::smoothing_limit(c.kind))) return;
  state.SetLabel(c.name);
  for (auto _ : state) {
    filter(in.planes(), out.planes(), options, one);
    benchmark::ClobberMemory();
  }
  count_rate(state, "pixels", bench::sinogram_columns);
}
BENCHMARK(smooth_a_row)->DenseRange(0, std::ssize(bench::smoothing_cases) - 1);

}  // namespace
}  // namespace lepus::micro

BENCHMARK_MAIN();

// SPDX-License-Identifier: Apache-2.0
// A build without CUDA: run_bench has refused a GPU before it comes here.
#include "bench/suite/parts.h"

namespace lepus::bench {

void bench_backprojection_cuda(Run& /*run*/, std::int64_t /*size*/) {}
void bench_filter_cuda(Run& /*run*/) {}
void bench_filters_cuda(Run& /*run*/) {}

}  // namespace lepus::bench

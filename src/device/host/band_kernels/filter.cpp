// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/filter.h"

#include <algorithm>
#include <array>

#include "core/memory.h"
#include "device/host/band_kernels/host_passes.h"

namespace lepus {

using filters::Pass;
using filters::Stack;

void filter(const Planes& in, const Planes& out, const FilterOptions& options, ThreadPool& threads) {
  filter(in, out, options, uncut(in), threads);
}

void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
            ThreadPool& threads) {
  std::array<Buffer<float>, 2> buffers;
  const auto scratch = [&](int which, std::int64_t floats) {
    Buffer<float>& buffer = buffers[static_cast<std::size_t>(which)];
    if (buffer.size() < floats) buffer = Buffer<float>(floats);
    return buffer.data();
  };
  filters::run_passes(in, out, options, cut, scratch,
                      [&](const Pass& pass, const Stack& original, const Stack& from, const Stack& to) {
                        filters::run_on_host(pass, original, from, to, threads);
                      });
}

std::int64_t filter_scratch_bytes(const Planes& in, const FilterOptions& options, int threads) {
  const int passes = options.iterations * (filters::separable(options.kind) ? options.dimensions : 1);
  const std::int64_t stack = in.width * in.height * in.count * static_cast<std::int64_t>(sizeof(float));
  return std::min(passes - 1, 2) * stack + threads * filters::host_scratch_bytes(in.width, options);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The wavelet-Fourier filter: two products along the views and, between them, the wavelet's steps along the columns.
#include <algorithm>
#include <vector>

#include "device/opencl/ring_methods.h"
#include "project/wavelet_modes.h"

namespace lepus::opencl {
namespace {

// As kernels/ring_wavelet.cl has it.
struct Step {
  cl_int taps, n, half_n, stride, modes, own, higher;
};

ConstantBuffer constants_of(const Context& context, const std::vector<float>& values) {
  return {context, values.data(), static_cast<std::int64_t>(values.size() * sizeof(float))};
}

// Wavelet modes in the device's memory, and the kernels that use them.
class WaveletFilter {
public:
  WaveletFilter(const rings::WaveletModes& modes, OpenclQueue& queue)
      : w_(modes),
        q_(queue),
        program_(queue.context().program("ring_wavelet", "")),
        there_(constants_of(queue.context(), modes.there)),
        back_(constants_of(queue.context(), modes.back)),
        taps_(constants_of(queue.context(), taps_of(modes))) {}

  // lines: two of w.modes x w.longest() for every sinogram.
  void apply(const Planes& sinograms, const Planes (&lines)[2]) {
    multiply(there_, sinograms, lines[0], w_.modes, w_.views, sinograms.width, false);
    const int levels = static_cast<int>(w_.first.size()) - 1;
    for (int level = 1; level <= levels; ++level) step("analyse", level, lines[(level + 1) % 2], lines[level % 2]);
    for (int level = levels; level >= 1; --level) step("synthesise", level, lines[level % 2], lines[(level + 1) % 2]);
    multiply(back_, lines[0], sinograms, w_.views, w_.modes, sinograms.width, true);
  }

private:
  static std::vector<float> taps_of(const rings::WaveletModes& w) {
    std::vector<float> taps = w.low;
    taps.insert(taps.end(), w.high.begin(), w.high.end());
    return taps;
  }

  // c = a b, or c - a b: a of m x k, b of k x n, c of m x n.
  void multiply(const ConstantBuffer& a, const Planes& b, const Planes& c, std::int64_t m, std::int64_t k,
                std::int64_t n, bool subtract) {
    constexpr std::int64_t tile_rows = 32, tile_columns = 64, items = 64;
    KernelCall(q_.context(), program_, "product")
        .object(a.get())
        .value(PlanesArgument(b))
        .memory(b.data)
        .value(PlanesArgument(c))
        .memory(c.data)
        .value(static_cast<cl_int>(m))
        .value(static_cast<cl_int>(k))
        .value(static_cast<cl_int>(n))
        .value(static_cast<cl_int>(subtract))
        .run(q_.get(), {(n + tile_columns - 1) / tile_columns, (m + tile_rows - 1) / tile_rows, c.count},
             {items, 1, 1});
  }

  void step(const char* kernel, int level, const Planes& from, const Planes& to) {
    const auto l = static_cast<std::size_t>(level);
    const Step argument{.taps = static_cast<cl_int>(w_.low.size()),
                        .n = static_cast<cl_int>(w_.lengths[l - 1]),
                        .half_n = static_cast<cl_int>(w_.lengths[l]),
                        .stride = static_cast<cl_int>(from.row_stride),
                        .modes = static_cast<cl_int>(w_.modes),
                        .own = static_cast<cl_int>(w_.first[l - 1]),
                        .higher = static_cast<cl_int>(w_.first[l])};
    KernelCall(q_.context(), program_, kernel)
        .value(argument)
        .object(taps_.get())
        .memory(from.data)
        .memory(to.data)
        .run(q_.get(), along_columns(std::max(w_.lengths[l - 1], w_.lengths[l]), w_.modes - argument.own, from.count),
             columns_group);
  }

  const rings::WaveletModes& w_;
  OpenclQueue& q_;
  Program& program_;
  ConstantBuffer there_, back_, taps_;
};

}  // namespace

void remove_rings_by_wavelets(const Planes& sinograms, const RingOptions& options, Queue& queue) {
  const auto modes =
      rings::wavelet_modes(sinograms.width, sinograms.height, options.wavelet, options.levels, options.damping_sigma);
  WaveletFilter filter(*modes, opencl_queue(queue));
  const std::int64_t longest = modes->longest(), group = planes_at_once(sinograms, modes->modes * longest, queue);
  for (std::int64_t first = 0; first < sinograms.count; first += group) {
    const ScratchScope scope(queue);
    const Planes part = rings::part_of(sinograms, first, group);
    const Planes lines[2] = {packed_planes(part, modes->modes, longest, queue),
                             packed_planes(part, modes->modes, longest, queue)};
    for (int i = 0; i < options.iterations; ++i) filter.apply(part, lines);
  }
}

}  // namespace lepus::opencl

// SPDX-License-Identifier: Apache-2.0
// The CPU's backprojection of one tile: 16 x 16 columns of 64 voxels, 8 views whose rows lie in the cache, one thread.
#include "device/host/backprojector.h"
#include "bench/suite/synthetic.h"
#include "checked.h"
#include "core/memory.h"

namespace lepus::micro {
namespace {

constexpr std::int64_t tile = 16, slices = 64, views = 8, columns = 64, rows = 128, row_stride = 144;

template <bench::Orbit orbit>
void backproject_a_tile(benchmark::State& state) {
  ThreadPool one(1);
  const ScanGeometry scan = build_scan(bench::c_arm_scan(columns, rows, views, orbit));
  const VolumeGrid grid = centred_grid(tile, tile, slices, {4, 4, 4});
  const auto kernel = make_backprojector(scan, grid, Interpolation::linear);
  std::vector<Buffer<float>> pictures;
  pictures.reserve(views);
  BandSet wedge{.first = 0, .row_stride = row_stride, .bands = {}};
  for (const std::int64_t view : kernel->view_order()) {
    Buffer<float>& picture = pictures.emplace_back(columns * row_stride);
    for (std::int64_t i = 0; i < picture.size(); ++i)
      picture[i] = i % row_stride < rows
                       ? bench::synthetic_pixel(static_cast<unsigned>(view), static_cast<unsigned>(i / row_stride),
                                                static_cast<unsigned>(i % row_stride))
                       : 0.0f;
    wedge.bands.push_back({picture.data(), 0, rows});
  }
  Buffer<float> volume(grid.voxels());
  std::fill(volume.begin(), volume.end(), 0.0f);
  const SlabView slab{volume.data(), 0, slices, slices};
  kernel->accumulate(wedge, slab, one);
  const bench::SampleErrors e =
      bench::errors_of(bench::reference_samples(scan, grid, Interpolation::linear, 500, one),
                       [&](const bench::Sample& s) { return volume[(s.y * tile + s.x) * slices + s.z]; });
  if (!is_right(state, e.rms, bench::exact_limits.rms) || !is_right(state, e.largest, bench::exact_limits.largest))
    return;
  state.SetLabel(kernel->description());
  for (auto _ : state) {
    kernel->accumulate(wedge, slab, one);
    benchmark::ClobberMemory();
  }
  count_rate(state, "updates", grid.voxels() * views);
}
BENCHMARK(backproject_a_tile<bench::Orbit::circular>);
BENCHMARK(backproject_a_tile<bench::Orbit::general>);

}  // namespace
}  // namespace lepus::micro

// SPDX-License-Identifier: Apache-2.0
// The last steps on the CPU: lepus' own kernels. For any matrices they run along z and bring what a tile sees into
// texels of neighbouring floats; on a circle u and w do not change along z, and the voxels turned by 0, 90, 180 and 270
// degrees see views a quarter turn apart at the same place: one coordinate serves sixteen updates.
#include "bench/ladder/cpu/steps.h"

#include <algorithm>

#include "core/memory.h"
#include "device/host/backprojector.h"

namespace lepus::ladder {

struct CpuOurs::State {
  const Problem& problem;
  ThreadPool& threads;
  std::unique_ptr<Backprojector> kernel;
  std::int64_t row_stride, z_stride;
  Buffer<float> views;  // [view][column][row]
  Buffer<float> sums;   // [y][x][z]
  BandSet wedge;

  State(const Problem& p, ThreadPool& t)
      : problem(p),
        threads(t),
        kernel(make_backprojector(p.scene->geometry, p.grid, Interpolation::linear)),
        row_stride(odd_cache_lines(p.scene->geometry.rows)),
        z_stride((p.size + slab_alignment - 1) / slab_alignment * slab_alignment),
        views(p.scene->views() * p.scene->geometry.columns * row_stride),
        sums(p.size * p.size * z_stride) {}

  void turn_views() {
    const std::int64_t columns = problem.scene->geometry.columns, rows = problem.scene->geometry.rows;
    threads.parallel_for(0, problem.scene->views(), 1, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t view = first; view < last; ++view) {
        const float* const from = problem.scene->view(view);
        float* const to = views.data() + view * columns * row_stride;
        std::fill_n(to, columns * row_stride, 0.0F);
        for (std::int64_t row = 0; row < rows; ++row)
          for (std::int64_t column = 0; column < columns; ++column)
            to[column * row_stride + row] = from[row * columns + column];
      }
    });
    wedge.row_stride = row_stride;
    wedge.bands.reserve(static_cast<std::size_t>(problem.scene->views()));
    for (const std::int64_t view : kernel->view_order())
      wedge.bands.push_back({views.data() + view * columns * row_stride, 0, rows});
  }
};

CpuOurs::CpuOurs(const Problem& problem, ThreadPool& threads) : state_(std::make_unique<State>(problem, threads)) {
  state_->turn_views();
}
CpuOurs::~CpuOurs() = default;

std::string CpuOurs::description() const { return state_->kernel->description(); }

void CpuOurs::run() {
  State& s = *state_;
  std::fill(s.sums.begin(), s.sums.end(), 0.0F);
  s.kernel->accumulate(s.wedge, {s.sums.data(), 0, s.problem.size, s.z_stride}, s.threads);
}

void CpuOurs::read(const Truth& truth, float* sampled) const {
  const std::int64_t area = state_->problem.size * state_->problem.size;
  for (std::size_t i = 0; i < truth.offsets.size(); ++i) {
    const std::int64_t offset = truth.offsets[i];
    sampled[i] = state_->sums[offset % area * state_->z_stride + offset / area];
  }
}

}  // namespace lepus::ladder

// SPDX-License-Identifier: Apache-2.0
// Joseph's method on the CPU, compiled for every SIMD target that Highway knows here: lanes are neighbouring pixels of
// a detector row, each on its own ray, all of them one plane further with every step. Threads share out detector rows,
// the same row of all views before the next: they see the same slices. Slabs keep a voxel's offset within 32 bits; the
// picture carries the sums from slab to slab.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "device/forward_project_job.h"

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/forward_project.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rays of neighbouring pixels, one per lane, with planes on the same axis; the others have no planes.
struct RayLanes {
  static constexpr int most = HWY_MAX_BYTES / 4;
  HWY_ALIGN float start[most], last_step[most], direction[most], a0[most], da[most], b0[most], db[most], way[most];
};

// Taps on one axis: offsets of both, kept within [0, size), and their weights, zero beyond the volume.
template <class D, class DI, class V, class VI>
HWY_INLINE void taps(D d, DI di, V at, int middle, int volume_size, int held_first, int held_size, int stride,
                     VI& offset0, VI& offset1, V& weight0, V& weight1) {
  const V cell = hn::Floor(at), zero = hn::Zero(d);
  weight1 = hn::Sub(at, cell);
  weight0 = hn::Sub(hn::Set(d, 1.0f), weight1);
  const float first = static_cast<float>(-middle), last = static_cast<float>(volume_size - 1 - middle);
  weight0 = hn::IfThenElse(hn::And(hn::Ge(cell, hn::Set(d, first)), hn::Le(cell, hn::Set(d, last))), weight0, zero);
  weight1 =
      hn::IfThenElse(hn::And(hn::Ge(cell, hn::Set(d, first - 1)), hn::Le(cell, hn::Set(d, last - 1))), weight1, zero);
  const VI index = hn::Add(hn::ConvertTo(di, cell), hn::Set(di, middle - held_first));
  const VI least = hn::Zero(di), most = hn::Set(di, held_size - 1), one = hn::Set(di, 1);
  offset0 = hn::Mul(hn::Min(hn::Max(index, least), most), hn::Set(di, stride));
  offset1 = hn::Mul(hn::Min(hn::Max(hn::Add(index, one), least), most), hn::Set(di, stride));
}

// Adds what the rays meet in the slab to sum[].
void walk_lanes(const ForwardJob& job, const ForwardSlab& slab, int axis, const RayLanes& rays, int steps,
                float* HWY_RESTRICT sum) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const int a = joseph_axis_a(axis), b = joseph_axis_b(axis);
  const int* const middle = job.grid.middle;
  const int* const size = job.grid.size;
  const int stride[3] = {1, size[0], size[0] * size[1]};
  const int held_first[3] = {0, 0, slab.first}, held_size[3] = {size[0], size[1], slab.last - slab.first};
  const float* HWY_RESTRICT voxels = job.volume + slab.first * job.slice_voxels();
  const auto start = hn::Load(d, rays.start), last_step = hn::Load(d, rays.last_step), way = hn::Load(d, rays.way);
  const auto direction = hn::Load(d, rays.direction);
  const auto a0 = hn::Load(d, rays.a0), da = hn::Load(d, rays.da), b0 = hn::Load(d, rays.b0), db = hn::Load(d, rays.db);
  const auto cell0 = hn::Set(d, axis == 2 ? -1e9f : static_cast<float>(slab.cell0 - middle[2]));
  const auto cell1 = hn::Set(d, axis == 2 ? 1e9f : static_cast<float>(slab.cell1 - middle[2]));
  const auto plane_shift = hn::Set(di, middle[axis] - held_first[axis]);
  auto total = hn::Load(d, sum);
  for (int step = 0; step < steps; ++step) {
    const auto k = hn::Set(d, static_cast<float>(step));
    const auto i = hn::MulAdd(hn::Max(hn::Min(k, last_step), hn::Zero(d)), direction, start);
    const auto at_a = hn::MulAdd(i, da, a0), at_b = hn::MulAdd(i, db, b0);
    const auto counts = hn::And(hn::Le(k, last_step), hn::And(hn::Ge(at_b, cell0), hn::Lt(at_b, cell1)));
    auto a_0 = hn::Zero(di), a_1 = a_0, b_0 = a_0, b_1 = a_0;
    auto wa0 = hn::Zero(d), wa1 = wa0, wb0 = wa0, wb1 = wa0;
    taps(d, di, at_a, middle[a], size[a], held_first[a], held_size[a], stride[a], a_0, a_1, wa0, wa1);
    taps(d, di, at_b, middle[b], size[b], held_first[b], held_size[b], stride[b], b_0, b_1, wb0, wb1);
    const auto plane = hn::Mul(hn::Add(hn::ConvertTo(di, i), plane_shift), hn::Set(di, stride[axis]));
    const auto low = hn::Add(plane, b_0), high = hn::Add(plane, b_1);
    const auto row0 = hn::MulAdd(wa1, hn::GatherIndex(d, voxels, hn::Add(low, a_1)),
                                 hn::Mul(wa0, hn::GatherIndex(d, voxels, hn::Add(low, a_0))));
    const auto row1 = hn::MulAdd(wa1, hn::GatherIndex(d, voxels, hn::Add(high, a_1)),
                                 hn::Mul(wa0, hn::GatherIndex(d, voxels, hn::Add(high, a_0))));
    const auto value = hn::MulAdd(wb1, row1, hn::Mul(wb0, row0));
    total = hn::MulAdd(hn::IfThenElseZero(counts, value), way, total);
  }
  hn::Store(total, d, sum);
}

void project_row(const ForwardJob& job, const ForwardSlab& slab, std::int64_t line) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto views = static_cast<std::int64_t>(job.views.size()), row = line / views;
  const JosephView& view = job.views[static_cast<std::size_t>(line % views)];
  const auto v = static_cast<double>(row);
  float* const out = job.line_integrals + (line % views * job.rows + row) * job.columns;
  HWY_ALIGN float sum[RayLanes::most];
  JosephRay rays[RayLanes::most];
  RayLanes together;
  for (std::int64_t u = 0; u < job.columns; u += lanes) {
    const auto used = static_cast<int>(std::min(lanes, job.columns - u));
    bool axis_used[3] = {false, false, false};
    for (int lane = 0; lane < used; ++lane) {
      rays[lane] = joseph_ray(joseph_line(view, job.grid, static_cast<double>(u + lane), v));
      axis_used[rays[lane].axis] = true;
      sum[lane] = slab.cell0 < 0 ? 0.0f : out[u + lane];
    }
    for (int lane = used; lane < lanes; ++lane) sum[lane] = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (!axis_used[axis]) continue;
      int steps = 0;
      for (int lane = 0; lane < lanes; ++lane) {
        JosephWalk walk;
        JosephRay ray;
        if (lane < used && rays[lane].axis == axis) {
          ray = rays[lane];
          walk = joseph_walk(ray, slab.cell0 - job.grid.middle[2], slab.cell1 - job.grid.middle[2]);
        }
        // Lanes without planes wait at a plane that is there.
        if (walk.count == 0) walk.start = axis == 2 ? slab.first - job.grid.middle[2] : 0;
        together.start[lane] = static_cast<float>(walk.start);
        together.last_step[lane] = static_cast<float>(walk.count - 1);
        together.direction[lane] = static_cast<float>(walk.direction);
        together.a0[lane] = ray.a0;
        together.da[lane] = ray.da;
        together.b0[lane] = ray.b0;
        together.db[lane] = ray.db;
        together.way[lane] = ray.way_mm;
        steps = std::max(steps, walk.count);
      }
      walk_lanes(job, slab, axis, together, steps, sum);
    }
    std::copy(sum, sum + used, out + u);
  }
}

ForwardKernel forward_kernel() { return {hwy::TargetName(HWY_TARGET), &project_row}; }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus {
namespace cpu {

HWY_EXPORT(forward_kernel);

static ForwardKernel chosen_forward_kernel() { return HWY_DYNAMIC_DISPATCH(forward_kernel)(); }

}  // namespace cpu

void forward_project_cpu(const ForwardJob& job, ThreadPool& threads, ForwardReport& report, std::int64_t slab_voxels) {
  const cpu::ForwardKernel kernel = cpu::chosen_forward_kernel();
  const std::vector<ForwardSlab> slabs = forward_slabs(job.grid, slab_voxels / job.slice_voxels());
  for (const ForwardSlab& slab : slabs)
    threads.parallel_for(0, static_cast<std::int64_t>(job.views.size()) * job.rows, 4,
                         [&](std::int64_t first, std::int64_t last, int) {
                           for (std::int64_t line = first; line < last; ++line) kernel.row(job, slab, line);
                         });
  report.kernel = std::string("pixels side by side, ") + kernel.target;
  report.slabs = static_cast<std::int64_t>(slabs.size());
}

void forward_project_cpu(const ForwardJob& job, ThreadPool& threads, ForwardReport& report) {
  constexpr std::int64_t offsets_of_32_bits = (std::int64_t{1} << 31) - 1;
  forward_project_cpu(job, threads, report, offsets_of_32_bits);
}

}  // namespace lepus
#endif

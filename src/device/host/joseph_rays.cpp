// SPDX-License-Identifier: Apache-2.0
// The kernels of joseph_rays.h, compiled for every SIMD target that Highway knows here.
#include "device/host/joseph_rays.h"

#include <algorithm>

#include "device/host/joseph_columns.h"

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/joseph_rays.cpp"
#include "hwy/foreach_target.h"

#include "device/host/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// Coordinates on one axis: kept within [low, high], beyond which all voxels are zero or not the tile's; the cell,
// counted from `low`, and how far beyond its start.
class CellAxis {
public:
  HWY_INLINE CellAxis(std::int64_t low, std::int64_t high)
      : low_(static_cast<float>(low)), high_(static_cast<float>(high)) {}

  HWY_INLINE VI cell(VF at, VF& fraction) const {
    const Floats d;
    const Ints di;
    constexpr float large = 12582912.0F;  // 1.5 x 2^23: see joseph_columns.cpp
    const VF unit = hn::Set(d, large);
    const VF kept = hn::Min(hn::Max(at, hn::Set(d, low_)), hn::Set(d, high_));
    const VF rounded = hn::Add(hn::Sub(kept, hn::Set(d, 0.5F)), unit);
    const VF whole_part = hn::Max(hn::Sub(rounded, unit), hn::Set(d, low_));
    fraction = hn::Sub(kept, whole_part);
    const VF from_low = hn::Add(hn::Sub(whole_part, hn::Set(d, low_)), unit);
    return hn::Sub(hn::BitCast(di, from_low), hn::BitCast(di, unit));
  }

private:
  float low_, high_;
};

HWY_INLINE VF value_at(const float* HWY_RESTRICT voxels, const std::int32_t* HWY_RESTRICT offsets, VF fraction) {
  VF low, high;
  fetch_pairs(voxels, offsets, low, high);
  return hn::MulAdd(fraction, hn::Sub(high, low), low);
}

void ray_forward(const JosephRayForward& job) {
  const Floats d;
  const Ints di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const JosephRays& rays = *job.rays;
  alignas(64) std::int32_t offsets[LEPUS_MOST_LANES];
  const std::int64_t apart[2] = {job.stride, job.stride * (job.grid.size[0] + 3)};
  const CellAxis on_z(job.z0 - 1 - job.grid.middle[2], job.z1 - job.grid.middle[2]);
  for (std::int64_t r = 0; r < job.rows; r += lanes) {
    const auto at = static_cast<std::size_t>(job.column * rays.stride + r);
    const VF a0 = hn::LoadU(d, rays.a0.data() + at), da = hn::LoadU(d, rays.da.data() + at),
             b0 = hn::LoadU(d, rays.b0.data() + at), db = hn::LoadU(d, rays.db.data() + at);
    VF sum = hn::Zero(d);
    for (int axis = 0; axis < 2; ++axis) {
      float begin = 1e9F, end = -1e9F;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        begin = std::min(begin, rays.first[axis][at + static_cast<std::size_t>(lane)]);
        end = std::max(end, rays.last[axis][at + static_cast<std::size_t>(lane)]);
      }
      const VF first = hn::LoadU(d, rays.first[axis].data() + at), last = hn::LoadU(d, rays.last[axis].data() + at);
      const int a = joseph_axis_a(axis);
      const CellAxis on_a(-1 - job.grid.middle[a], job.grid.size[a] - job.grid.middle[a]);
      const VI stride = hn::Set(di, static_cast<std::int32_t>(apart[a]));
      // Voxel -1 on the other axis is the first that is there.
      const float* HWY_RESTRICT voxels = job.voxels + (job.grid.middle[axis] + 1) * apart[axis];
      for (float plane = begin; plane < end; ++plane) {
        const VF i = hn::Set(d, plane);
        VF fa, fb;
        const VI cell_a = on_a.cell(hn::MulAdd(i, da, a0), fa), cell_b = on_z.cell(hn::MulAdd(i, db, b0), fb);
        hn::StoreU(hn::Add(hn::Mul(cell_a, stride), cell_b), di, offsets);
        const float* HWY_RESTRICT in_plane = voxels + static_cast<std::int64_t>(plane) * apart[axis];
        const VF left = value_at(in_plane, offsets, fb), right = value_at(in_plane + apart[a], offsets, fb);
        const auto counts = hn::And(hn::Ge(i, first), hn::Lt(i, last));
        sum = hn::Add(sum, hn::IfThenElseZero(counts, hn::MulAdd(fa, hn::Sub(right, left), left)));
      }
    }
    hn::StoreU(sum, d, job.sums + r);
  }
}

HWY_INLINE void add_pair(const float* HWY_RESTRICT share, float* HWY_RESTRICT pair) {
#if LEPUS_LANES >= 4
  const hn::FixedTag<float, 2> d2;
  hn::StoreU(hn::Add(hn::LoadU(d2, pair), hn::LoadU(d2, share)), d2, pair);
#else
  pair[0] += share[0];
  pair[1] += share[1];
#endif
}

void ray_back(const JosephRayBack& job) {
  const Floats d;
  const Ints di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const JosephRays& rays = *job.rays;
  const int a = joseph_axis_a(job.axis);
  const CellAxis on_a(job.a_first - 1 - job.grid.middle[a], job.a_last - job.grid.middle[a]),
      on_z(job.z0 - 1 - job.grid.middle[2], job.z1 - job.grid.middle[2]);
  const VF i = hn::Set(d, static_cast<float>(job.plane));
  const VI stride = hn::Set(di, static_cast<std::int32_t>(job.cells));
  alignas(64) std::int32_t offsets[LEPUS_MOST_LANES];
  alignas(64) float left[2 * LEPUS_MOST_LANES], right[2 * LEPUS_MOST_LANES];
  const std::vector<float>&first = rays.first[job.axis], &last = rays.last[job.axis];
  for (std::int64_t u = job.u0; u < job.u1; ++u)
    for (std::int64_t r = job.row0; r < job.row1; r += lanes) {
      const auto at = static_cast<std::size_t>(u * rays.stride + r);
      const auto counts =
          hn::And(hn::Ge(i, hn::LoadU(d, first.data() + at)), hn::Lt(i, hn::LoadU(d, last.data() + at)));
      const VF value = hn::IfThenElseZero(counts, hn::LoadU(d, rays.value.data() + at));
      VF fa, fb;
      const VI cell_a =
                   on_a.cell(hn::MulAdd(i, hn::LoadU(d, rays.da.data() + at), hn::LoadU(d, rays.a0.data() + at)), fa),
               cell_b =
                   on_z.cell(hn::MulAdd(i, hn::LoadU(d, rays.db.data() + at), hn::LoadU(d, rays.b0.data() + at)), fb);
      hn::StoreU(hn::Add(hn::Mul(cell_a, stride), cell_b), di, offsets);
      const VF of_right = hn::Mul(fa, value), of_left = hn::Sub(value, of_right);
      const VF right_up = hn::Mul(fb, of_right), left_up = hn::Mul(fb, of_left);
      hn::StoreInterleaved2(hn::Sub(of_left, left_up), left_up, d, left);
      hn::StoreInterleaved2(hn::Sub(of_right, right_up), right_up, d, right);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        float* HWY_RESTRICT pair = job.pairs + 2 * std::int64_t{offsets[lane]};
        add_pair(left + 2 * lane, pair);
        add_pair(right + 2 * lane, pair + 2 * job.cells);
      }
    }
}

void add_pairs(const float* HWY_RESTRICT pairs, std::int64_t slices, float* HWY_RESTRICT voxels) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t z = 0;
  for (; z + lanes <= slices; z += lanes) {
    VF first, second, unused;
    hn::LoadInterleaved2(d, pairs + 2 * (z + 1), first, unused);
    hn::LoadInterleaved2(d, pairs + 2 * z, unused, second);
    hn::StoreU(hn::Add(hn::LoadU(d, voxels + z), hn::Add(first, second)), d, voxels + z);
  }
  for (; z < slices; ++z) voxels[z] += pairs[2 * (z + 1)] + pairs[2 * z + 1];
}

JosephRayKernel joseph_ray_kernel() { return {&ray_forward, &ray_back, &add_pairs}; }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::cpu {

HWY_EXPORT(joseph_ray_kernel);

JosephRayKernel chosen_joseph_ray_kernel() { return HWY_DYNAMIC_DISPATCH(joseph_ray_kernel)(); }

void JosephRays::resize(std::int64_t columns, std::int64_t rows) {
  stride = rows + joseph_padding;
  const auto size = static_cast<std::size_t>(columns * stride + joseph_padding);
  for (std::vector<float>* values : {&a0, &da, &b0, &db, &value}) values->assign(size, 0.0F);
  for (int axis = 0; axis < 2; ++axis) {
    first[axis].assign(size, 1e9F);
    last[axis].assign(size, -1e9F);
  }
}

void JosephRays::set(std::int64_t column, std::int64_t row, const JosephRay& ray, float its_value) {
  const auto at = static_cast<std::size_t>(column * stride + row);
  for (int axis = 0; axis < 2; ++axis) {
    const bool own = ray.axis == axis && ray.first < ray.last;
    first[axis][at] = own ? static_cast<float>(ray.first) : 1e9F;
    last[axis][at] = own ? static_cast<float>(ray.last) : -1e9F;
  }
  a0[at] = ray.a0;
  da[at] = ray.da;
  b0[at] = ray.b0;
  db[at] = ray.db;
  value[at] = its_value;
}

}  // namespace lepus::cpu
#endif

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

// Where the rays of a vector of rows are in a plane.
struct RayPlaces {
  const float *a0, *da, *b0, *db, *first, *last;

  HWY_INLINE RayPlaces(const JosephRays& rays, std::int64_t column, int axis)
      : a0(rays.a0.data() + column * rays.stride),
        da(rays.da.data() + column * rays.stride),
        b0(rays.b0.data() + column * rays.stride),
        db(rays.db.data() + column * rays.stride),
        first(rays.first[axis].data() + column * rays.stride),
        last(rays.last[axis].data() + column * rays.stride) {}

  // The offset of rows r, r + 1, ... in the plane goes to memory; fractions beyond it on both axes.
  HWY_INLINE void find(std::int64_t r, VF plane, const CellAxis& on_a, const CellAxis& on_z, VI stride,
                       std::int32_t* HWY_RESTRICT offsets, VF& fa, VF& fb) const {
    const Floats d;
    const VI cell_a = on_a.cell(hn::MulAdd(plane, hn::LoadU(d, da + r), hn::LoadU(d, a0 + r)), fa);
    const VI cell_b = on_z.cell(hn::MulAdd(plane, hn::LoadU(d, db + r), hn::LoadU(d, b0 + r)), fb);
    hn::StoreU(hn::Add(hn::Mul(cell_a, stride), cell_b), Ints(), offsets);
  }
  // The value, or zero for rays that do not cross the plane.
  HWY_INLINE VF if_crossed(std::int64_t r, VF plane, VF value) const {
    const Floats d;
    return hn::IfThenElseZero(hn::And(hn::Ge(plane, hn::LoadU(d, first + r)), hn::Lt(plane, hn::LoadU(d, last + r))),
                              value);
  }
};

// Plane by plane: the voxel columns that a detector column meets in one are neighbours, those of the next lie far away.
// Offsets go through memory, a vector ahead.
void ray_forward(const JosephRayForward& job) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const JosephRays& rays = *job.rays;
  alignas(64) std::int32_t offsets[2][LEPUS_MOST_LANES];
  const std::int64_t apart[2] = {job.stride, job.stride * (job.grid.size[0] + 3)};
  const CellAxis on_z(job.z0 - 1 - job.grid.middle[2], job.z1 - job.grid.middle[2]);
  std::fill(job.sums, job.sums + job.rows, 0.0F);
  for (int axis = 0; axis < 2; ++axis) {
    const RayPlaces places(rays, job.column, axis);
    const float begin = *std::min_element(places.first, places.first + job.rows),
                end = *std::max_element(places.last, places.last + job.rows);
    if (!(begin < end)) continue;
    const int a = joseph_axis_a(axis);
    const CellAxis on_a(-1 - job.grid.middle[a], job.grid.size[a] - job.grid.middle[a]);
    const VI stride = hn::Set(Ints(), static_cast<std::int32_t>(apart[a]));
    for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
      // Voxel -1 is the first that is there.
      const float* HWY_RESTRICT voxels = job.voxels + (plane + job.grid.middle[axis] + 1) * apart[axis];
      const VF i = hn::Set(d, static_cast<float>(plane));
      VF fa = i, fb = i, next_a = i, next_b = i;
      places.find(0, i, on_a, on_z, stride, offsets[0], fa, fb);
      int turn = 0;
      for (std::int64_t r = 0; r < job.rows; r += lanes, turn = 1 - turn) {
        places.find(r + lanes, i, on_a, on_z, stride, offsets[1 - turn], next_a, next_b);
        const VF left = blended_pairs(voxels, offsets[turn], fb),
                 right = blended_pairs(voxels + apart[a], offsets[turn], fb);
        const VF value = hn::MulAdd(fa, hn::Sub(right, left), left);
        hn::StoreU(hn::Add(hn::LoadU(d, job.sums + r), places.if_crossed(r, i, value)), d, job.sums + r);
        fa = next_a;
        fb = next_b;
      }
    }
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
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const JosephRays& rays = *job.rays;
  const int a = joseph_axis_a(job.axis);
  const CellAxis on_a(job.a_first - 1 - job.grid.middle[a], job.a_last - job.grid.middle[a]),
      on_z(job.z0 - 1 - job.grid.middle[2], job.z1 - job.grid.middle[2]);
  const VF i = hn::Set(d, static_cast<float>(job.plane));
  const VI stride = hn::Set(Ints(), static_cast<std::int32_t>(job.cells));
  // Two stages: what a vector stored is not in reach of small loads at once.
  std::int32_t* HWY_RESTRICT offsets = job.offsets;
  float* HWY_RESTRICT left = job.shares;
  float* HWY_RESTRICT right = job.shares + 2 * rays.stride;
  for (std::int64_t u = job.u0; u < job.u1; ++u) {
    const RayPlaces places(rays, u, job.axis);
    const float* HWY_RESTRICT values = rays.value.data() + u * rays.stride;
    std::int64_t count = 0;
    for (std::int64_t r = job.row0; r < job.row1; r += lanes, count += lanes) {
      VF fa, fb;
      places.find(r, i, on_a, on_z, stride, offsets + count, fa, fb);
      const VF value = places.if_crossed(r, i, hn::LoadU(d, values + r));
      const VF of_right = hn::Mul(fa, value), of_left = hn::Sub(value, of_right);
      const VF right_up = hn::Mul(fb, of_right), left_up = hn::Mul(fb, of_left);
      hn::StoreInterleaved2(hn::Sub(of_left, left_up), left_up, d, left + 2 * count);
      hn::StoreInterleaved2(hn::Sub(of_right, right_up), right_up, d, right + 2 * count);
    }
    for (std::int64_t r = 0; r < count; ++r) {
      float* HWY_RESTRICT pair = job.pairs + 2 * std::int64_t{offsets[r]};
      add_pair(left + 2 * r, pair);
      add_pair(right + 2 * r, pair + 2 * job.cells);
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

// SPDX-License-Identifier: Apache-2.0
// Footprints of views that are not upright (project/footprint.h), ray by ray as in block_weights-inl.h: the formulas
// of footprint_layer, footprint_column and footprint_row for the rows of a vector.
#if defined(LEPUS_DEVICE_HOST_FOOTPRINT_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_DEVICE_HOST_FOOTPRINT_WEIGHTS_INL_H_
#undef LEPUS_DEVICE_HOST_FOOTPRINT_WEIGHTS_INL_H_
#else
#define LEPUS_DEVICE_HOST_FOOTPRINT_WEIGHTS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "device/host/block_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// Trapezoids of three widths, one of each lane.
HWY_INLINE void trapezoids(VF x, VF y, VF z, VF& p, VF& half_foot, VF& half_top, VF& per_p, VF& per_2pq) {
  const Floats d;
  const VF half = hn::Set(d, 0.5F);
  const VF longest = hn::Max(hn::Max(hn::Abs(x), hn::Abs(y)), hn::Abs(z));
  p = hn::Max(longest, hn::Set(d, 1e-6F));
  const VF squares = hn::MulAdd(x, x, hn::MulAdd(y, y, hn::Mul(z, z)));
  const VF rest = hn::Max(hn::NegMulAdd(longest, longest, squares), hn::Zero(d));
  const VF side = hn::Min(hn::Sqrt(rest), p);
  half_foot = hn::Mul(half, hn::Add(p, side));
  half_top = hn::Mul(half, hn::Sub(p, side));
  // One division for both: 1 / p = side / (p side). A side too narrow to count is given a width that does not overflow.
  const VF least = hn::Set(d, 1e-12F), wide = hn::Max(side, least), both = hn::Div(hn::Set(d, 1.0F), hn::Mul(p, wide));
  per_p = hn::Mul(wide, both);
  per_2pq = hn::IfThenElseZero(hn::Gt(side, least), hn::Mul(half, both));
}

HWY_INLINE VF shares_below(VF x, VF half_foot, VF half_top, VF per_p, VF per_2pq) {
  const Floats d;
  const VF y = hn::Abs(x), rest = hn::Max(hn::Sub(half_foot, y), hn::Zero(d));
  const VF outer = hn::NegMulAdd(hn::Mul(rest, rest), per_2pq, hn::Set(d, 0.5F));
  return hn::CopySign(hn::IfThenElse(hn::Le(y, half_top), hn::Mul(y, per_p), outer), x);
}

// The voxels that a trapezoid around `middle` reaches in any lane: the first of every lane, where its lower face is
// seen from the middle, and how many there are at most. A little more than it reaches, so that every lane's first and
// last face surely lie outside: however many voxels other lanes have, the rest of its shares are zero.
HWY_INLINE int voxels_reached(VF middle, VF half_foot, VF& first, VF& face) {
  const Floats d;
  const VF half = hn::Set(d, 0.5F), reach = hn::MulAdd(half_foot, hn::Set(d, 1.0001F), hn::Set(d, 1e-5F));
  const VF voxel = whole_below(middle), beyond = hn::Sub(middle, voxel);
  const VF low = whole_below(hn::Add(hn::Sub(beyond, reach), half));
  const VF high = hn::Neg(whole_below(hn::Neg(hn::Sub(hn::Add(beyond, reach), half))));
  first = hn::Add(voxel, low);
  face = hn::Sub(hn::Sub(low, half), beyond);
  return static_cast<int>(hn::GetLane(hn::MaxOfLanes(d, hn::Sub(high, low)))) + 1;
}

struct Footprints {
  template <class Each>
  static HWY_INLINE void each_block(const RayColumn& rays, std::int64_t r, VF layer, const LayerCells& cells,
                                    const Each& each) {
    const Floats d;
    const VF half = hn::Set(d, 0.5F), one = hn::Set(d, 1.0F);
    const VF da = rays.load(RayField::da, r), db = rays.load(RayField::db, r);
    const VF a = rays.affine(RayField::a0, RayField::da, r, layer),
             b = rays.affine(RayField::b0, RayField::db, r, layer);
    const VF au = rays.affine(RayField::au0, RayField::dau, r, layer),
             av = rays.affine(RayField::av0, RayField::dav, r, layer),
             bu = rays.affine(RayField::bu0, RayField::dbu, r, layer),
             bv = rays.affine(RayField::bv0, RayField::dbv, r, layer);
    VF p, foot, top, per_p, per_2pq, p_b, foot_b, top_b, per_p_b, per_2pq_b;
    trapezoids(da, au, av, p, foot, top, per_p, per_2pq);
    trapezoids(db, bu, bv, p_b, foot_b, top_b, per_p_b, per_2pq_b);
    const VF variance = hn::MulAdd(da, da, hn::MulAdd(au, au, hn::Mul(av, av)));
    const VF along = hn::MulAdd(da, db, hn::MulAdd(au, bu, hn::Mul(av, bv)));
    const VF slope = hn::IfThenElseZero(hn::Gt(variance, hn::Set(d, 1e-12F)), hn::Div(along, variance));
    const VF reach = hn::Mul(half, p);
    VF j, low;
    const int columns = voxels_reached(a, foot, j, low);
    VF below = shares_below(low, foot, top, per_p, per_2pq);
    for (int column = 0; column < columns; ++column) {
      const VF high = hn::Add(low, one), above = shares_below(high, foot, top, per_p, per_2pq);
      const VF from = hn::Max(hn::Min(low, reach), hn::Neg(reach)), to = hn::Max(hn::Min(high, reach), hn::Neg(reach));
      const VF middle = hn::MulAdd(hn::Mul(slope, half), hn::Add(from, to), b), share = hn::Sub(above, below);
      VF k, face;
      const int slices = voxels_reached(middle, foot_b, k, face);
      VF s0 = shares_below(face, foot_b, top_b, per_p_b, per_2pq_b);
      const auto next = [&](VF& last) HWY_ATTR {
        face = hn::Add(face, one);
        const VF here = shares_below(face, foot_b, top_b, per_p_b, per_2pq_b),
                 part = hn::Mul(share, hn::Sub(here, last));
        last = here;
        return part;
      };
      for (int slice = 0; slice < slices; slice += 4) {
        const VI offset = offset_of(cells.on_a.bits(j), cells.on_z.bits(k), hn::Set(Ints(), cells.stride));
        const VF w0 = next(s0), w1 = next(s0), w2 = next(s0), w3 = next(s0);
        each(offset, w0, w1, w2, w3);
        k = hn::Add(k, hn::Set(d, 4.0F));
      }
      j = hn::Add(j, one);
      low = high;
      below = above;
    }
  }

  // Of every lane voxels[offset] and the three above it.
  static HWY_INLINE void fetch(const float* HWY_RESTRICT voxels, std::int64_t, VI offset, VF& v0, VF& v1, VF& v2,
                               VF& v3) {
    alignas(64) std::int32_t at[LEPUS_MAXIMUM_LANES];
    hn::StoreU(offset, Ints(), at);
#if LEPUS_LANES == 8 || LEPUS_LANES == 0
    std::int32_t start;
    Places places;
    if (in_one_vector(offset, at, 4, start, places)) {
      const VF near = hn::LoadU(Floats(), voxels + start);
      v0 = voxel_at(near, places, 0);
      v1 = voxel_at(near, places, 1);
      v2 = voxel_at(near, places, 2);
      v3 = voxel_at(near, places, 3);
      return;
    }
#endif
    fetch_pairs(voxels, at, v0, v1);
    fetch_pairs(voxels + 2, at, v2, v3);
  }

  static constexpr bool two_columns = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif

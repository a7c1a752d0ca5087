// SPDX-License-Identifier: Apache-2.0
// The weights of a ray's voxels in one layer, compiled once per SIMD target; lanes are rows of a detector column. Every
// model calls each(offset, w0, w1, w2, w3) with blocks of four voxels: those of Joseph and Siddon are two by two, those
// of footprints (footprint_weights-inl.h) four on top of each other.
#if defined(LEPUS_DEVICE_HOST_BLOCK_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_DEVICE_HOST_BLOCK_WEIGHTS_INL_H_
#undef LEPUS_DEVICE_HOST_BLOCK_WEIGHTS_INL_H_
#else
#define LEPUS_DEVICE_HOST_BLOCK_WEIGHTS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "device/host/block_rays.h"
#include "device/host/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

constexpr float block_unit = 12582912.0F;  // 1.5 x 2^23: see joseph_columns.cpp

HWY_INLINE VF whole_below(VF at) {
  const Floats d;
  const VF unit = hn::Set(d, block_unit);
  return hn::Sub(hn::Add(hn::Sub(at, hn::Set(d, 0.5F)), unit), unit);
}

// A cell is a voxel and the next few on an axis. Those that begin before the margin, or behind the last voxel, hold
// none that counts. Whole numbers come from the bits of a float of which the last is one: what
// these hold beside the number, `offset` takes away.
class CellAxis {
public:
  // Voxels [first, last), and how many before them are there.
  HWY_INLINE CellAxis(std::int64_t first, std::int64_t last, std::int64_t margin)
      : low_(static_cast<float>(first - margin)), high_(static_cast<float>(last)) {}

  // Counted from voxel first - margin.
  HWY_INLINE VI bits(VF cell) const {
    const Floats d;
    const VF kept = hn::Min(hn::Max(cell, hn::Set(d, low_)), hn::Set(d, high_));
    return hn::BitCast(Ints(), hn::Add(kept, hn::Set(d, block_unit - low_)));
  }

private:
  float low_, high_;
};

HWY_INLINE VI offset_of(VI bits_a, VI bits_b, VI stride) {
  const Ints di;
  const VI unit = hn::BitCast(di, hn::Set(Floats(), block_unit));
  return hn::Add(hn::Mul(hn::Sub(bits_a, unit), stride), hn::Sub(bits_b, unit));
}

// The rays of a detector column with layers on one axis.
class RayColumn {
public:
  HWY_INLINE RayColumn(const BlockRays& rays, std::int64_t column, int axis)
      : fields_(rays.field(column, RayField::a0)),
        apart_(rays.stride),
        first_(rays.first[axis].data() + column * rays.stride),
        last_(rays.last[axis].data() + column * rays.stride) {}

  // Of rows r, r + 1, ...
  HWY_INLINE VF load(RayField field, std::int64_t r) const {
    return hn::LoadU(Floats(), fields_ + static_cast<std::int64_t>(field) * apart_ + r);
  }
  HWY_INLINE VF affine(RayField start, RayField change, std::int64_t r, VF layer) const {
    return hn::MulAdd(layer, load(change, r), load(start, r));
  }
  HWY_INLINE auto crosses(std::int64_t r, VF layer) const {
    const Floats d;
    return hn::And(hn::Ge(layer, hn::LoadU(d, first_ + r)), hn::Lt(layer, hn::LoadU(d, last_ + r)));
  }
  const float* first() const { return first_; }
  const float* last() const { return last_; }

private:
  const float* fields_;
  std::int64_t apart_;
  const float *first_, *last_;
};

// The layer that is looked at.
struct LayerCells {
  CellAxis on_a, on_z;
  std::int32_t stride;  // of cells on axis a
};

// Where the blocks of rows r, r + 1, ... lie in a layer, and their weights: lower and upper voxel on axis a, and on z.
struct LinearWeights {
  static HWY_INLINE VI find(const RayColumn& rays, std::int64_t r, VF layer, const LayerCells& cells, VF& w00, VF& w01,
                            VF& w10, VF& w11) {
    const Floats d;
    const VF a = rays.affine(RayField::a0, RayField::da, r, layer),
             b = rays.affine(RayField::b0, RayField::db, r, layer);
    const VF cell_a = whole_below(a), cell_b = whole_below(b);
    const VF fa = hn::Sub(a, cell_a), fb = hn::Sub(b, cell_b);
    w11 = hn::Mul(fa, fb);
    w10 = hn::Sub(fa, w11);
    w01 = hn::Sub(fb, w11);
    w00 = hn::Sub(hn::Sub(hn::Set(d, 1.0F), fa), w01);
    return offset_of(cells.on_a.bits(cell_a), cells.on_z.bits(cell_b), hn::Set(Ints(), cells.stride));
  }
};

// A ray is in the layer from `low` to `high` of its main axis, and passes at most one face on either of the others. Of
// the length t, a is spent in the lower voxel on axis a and b in the lower one on z; what both have in common depends
// on whether the ray is in both at the same end.
struct LengthWeights {
  static HWY_INLINE VI find(const RayColumn& rays, std::int64_t r, VF layer, const LayerCells& cells, VF& w00, VF& w01,
                            VF& w10, VF& w11) {
    const Floats d;
    const VF half = hn::Set(d, 0.5F);
    const VF low = hn::Max(hn::Sub(layer, half), rays.load(RayField::begin, r));
    const VF high = hn::Max(low, hn::Min(hn::Add(layer, half), rays.load(RayField::end, r)));
    VF a, b;
    const VF per_a = rays.load(RayField::per_a, r), per_b = rays.load(RayField::per_b, r);
    const VF cell_a = lower_voxel(layer, rays.load(RayField::a0, r), rays.load(RayField::da, r), per_a, low, high, a);
    const VF cell_b = lower_voxel(layer, rays.load(RayField::b0, r), rays.load(RayField::db, r), per_b, low, high, b);
    const VF t = hn::Sub(high, low);
    const auto same_end = hn::Ge(hn::Mul(per_a, per_b), hn::Zero(d));
    w00 = hn::IfThenElse(same_end, hn::Min(a, b), hn::Max(hn::Sub(hn::Add(a, b), t), hn::Zero(d)));
    w01 = hn::Sub(a, w00);
    w10 = hn::Sub(b, w00);
    w11 = hn::Sub(hn::Sub(t, a), w10);
    return offset_of(cells.on_a.bits(cell_a), cells.on_z.bits(cell_b), hn::Set(Ints(), cells.stride));
  }

private:
  // The lower of the two voxels on one axis that the ray may meet in the layer, and the length within it.
  static HWY_INLINE VF lower_voxel(VF layer, VF c0, VF dc, VF per_c, VF low, VF high, VF& length) {
    const Floats d;
    const VF half = hn::Set(d, 0.5F);
    const VF lowest = hn::NegMulAdd(half, hn::Abs(dc), hn::MulAdd(layer, dc, c0));
    const VF voxel = whole_below(hn::Add(lowest, half));
    const VF face = hn::Mul(hn::Sub(hn::Add(voxel, half), c0), per_c);
    const VF passes = hn::Min(hn::Max(face, low), high);
    length = hn::IfThenElse(hn::Ge(per_c, hn::Zero(d)), hn::Sub(passes, low), hn::Sub(high, passes));
    return voxel;
  }
};

#if LEPUS_LANES == 8 || LEPUS_LANES == 0
using Places = hn::Vec<hn::RebindToUnsigned<Floats>>;

// Whether the voxel at every lane's offset (`at` holds them too) and those above it, `block` in all, lie in the vector
// that starts at voxel `start`; if so, where there.
HWY_INLINE bool in_one_vector(VI offset, const std::int32_t* at, std::int64_t block, std::int32_t& start,
                              Places& places) {
  const hn::RebindToUnsigned<Floats> du;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(du));
  start = std::min(at[0], at[lanes - 1]);
  places = hn::BitCast(du, hn::Sub(offset, hn::Set(Ints(), start)));
  if (lanes < block) return false;
  const Places last = hn::Set(du, static_cast<std::uint32_t>(lanes - block));
  return hn::AllTrue(du, hn::Eq(hn::Min(places, last), places));
}

HWY_INLINE VF voxel_at(VF vector, Places places, std::uint32_t above) {
  const hn::RebindToUnsigned<Floats> du;
  return hn::TableLookupLanes(vector, hn::IndicesFromVec(Floats(), hn::Add(places, hn::Set(du, above))));
}
#endif

// Blocks of two by two voxels, with the weights of either.
template <class Weights>
struct TwoByTwo {
  template <class Each>
  static HWY_INLINE void each_block(const RayColumn& rays, std::int64_t r, VF layer, const LayerCells& cells,
                                    const Each& each) {
    VF w00, w01, w10, w11;
    const VI offset = Weights::find(rays, r, layer, cells, w00, w01, w10, w11);
    each(offset, w00, w01, w10, w11);
  }

  // Of every lane lower[offset], lower[offset + 1], upper[offset], upper[offset + 1]; voxel columns are `apart` floats
  // apart. Rows of a detector column mostly lie within one vector of slices.
  static HWY_INLINE void fetch(const float* HWY_RESTRICT lower, std::int64_t apart, VI offset, VF& v00, VF& v01,
                               VF& v10, VF& v11) {
    const float* HWY_RESTRICT upper = lower + apart;
    alignas(64) std::int32_t at[LEPUS_MAXIMUM_LANES];
    hn::StoreU(offset, Ints(), at);
#if LEPUS_LANES == 8 || LEPUS_LANES == 0
    std::int32_t start;
    Places places;
    if (in_one_vector(offset, at, 2, start, places)) {
      const VF low = hn::LoadU(Floats(), lower + start), up = hn::LoadU(Floats(), upper + start);
      v00 = voxel_at(low, places, 0);
      v01 = voxel_at(low, places, 1);
      v10 = voxel_at(up, places, 0);
      v11 = voxel_at(up, places, 1);
      return;
    }
#endif
    fetch_pairs(lower, at, v00, v01);
    fetch_pairs(upper, at, v10, v11);
  }

  static constexpr bool two_columns = true;
};

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif

// SPDX-License-Identifier: Apache-2.0
// The kernels of block_rays.h, compiled for every SIMD target that Highway knows here.
#include "device/host/block_rays.h"

#include <algorithm>
#include <initializer_list>

#include "device/host/joseph_columns.h"

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/block_rays.cpp"
#include "hwy/foreach_target.h"

#include "device/host/block_weights-inl.h"
#include "device/host/footprint_weights-inl.h"
#include "device/host/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

static_assert(block_rows_together % LEPUS_MAXIMUM_LANES == 0);

// One layer of a detector column; checked: some of its rays may not cross it.
template <class Model, bool checked>
HWY_INLINE void sum_layer(const RayColumn& rays, std::int64_t rows, VF layer, const LayerCells& cells,
                          const float* HWY_RESTRICT voxels, std::int64_t apart, float* HWY_RESTRICT sums) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t r = 0; r < rows; r += lanes) {
    if (checked && hn::AllFalse(d, rays.crosses(r, layer))) continue;
    VF value = hn::Zero(d);
    Model::each_block(rays, r, layer, cells, [&](VI offset, VF w0, VF w1, VF w2, VF w3) HWY_ATTR {
      VF v0, v1, v2, v3;
      Model::fetch(voxels, apart, offset, v0, v1, v2, v3);
      value = hn::MulAdd(w3, v3, hn::MulAdd(w2, v2, hn::MulAdd(w1, v1, hn::MulAdd(w0, v0, value))));
    });
    if (checked) value = hn::IfThenElseZero(rays.crosses(r, layer), value);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + r), value), d, sums + r);
  }
}

// Layer by layer: the voxel columns that a detector column meets in one are neighbours, those of the next lie far away.
template <class Model>
void block_forward(const BlockForward& job) {
  const std::int64_t apart[2] = {job.stride, job.stride * (job.grid.size[0] + 2 * block_margin)};
  std::fill(job.sums, job.sums + job.rows, 0.0F);
  for (int axis = 0; axis < 2; ++axis) {
    const RayColumn rays(*job.rays, job.column, axis);
    const float begin = *std::min_element(rays.first(), rays.first() + job.rows),
                end = *std::max_element(rays.last(), rays.last() + job.rows);
    if (!(begin < end)) continue;
    const int a = joseph_axis_a(axis);
    const LayerCells cells{CellAxis(-job.grid.middle[a], job.grid.size[a] - job.grid.middle[a], block_margin),
                           CellAxis(job.z0 - job.grid.middle[2], job.z1 - job.grid.middle[2], block_slices_before),
                           static_cast<std::int32_t>(apart[a])};
    const bool whole = job.rays->whole[axis][static_cast<std::size_t>(job.column)] != 0;
    for (auto layer = static_cast<std::int64_t>(begin); layer < static_cast<std::int64_t>(end); ++layer) {
      const float* voxels = job.voxels + (layer + job.grid.middle[axis] + block_margin) * apart[axis];
      const VF i = hn::Set(Floats(), static_cast<float>(layer));
      whole ? sum_layer<Model, false>(rays, job.rows, i, cells, voxels, apart[a], job.sums)
            : sum_layer<Model, true>(rays, job.rows, i, cells, voxels, apart[a], job.sums);
    }
  }
}

// blocks[offset] += the four shares of every lane, one lane after the other.
HWY_INLINE void add_shares(VF s00, VF s01, VF s10, VF s11, VI offset, float* HWY_RESTRICT blocks) {
  const Floats d;
  alignas(64) std::int32_t at[LEPUS_MAXIMUM_LANES];
  hn::StoreU(hn::ShiftLeft<2>(offset), Ints(), at);  // in floats
#if LEPUS_LANES == 4 || LEPUS_LANES == 8
  const hn::Repartition<double, Floats> pairs;
  const auto low = [pairs, d](VF x, VF y) HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveLower(d, x, y)); };
  const auto high = [pairs, d](VF x, VF y) HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveUpper(d, x, y)); };
  // Of lane i, and of lane i + 4.
  const VF quads0 = hn::BitCast(d, hn::InterleaveLower(pairs, low(s00, s01), low(s10, s11))),
           quads1 = hn::BitCast(d, hn::InterleaveUpper(pairs, low(s00, s01), low(s10, s11))),
           quads2 = hn::BitCast(d, hn::InterleaveLower(pairs, high(s00, s01), high(s10, s11))),
           quads3 = hn::BitCast(d, hn::InterleaveUpper(pairs, high(s00, s01), high(s10, s11)));
  const auto add = [blocks](Quad quad, std::int64_t offset_of_lane) HWY_ATTR {
    float* HWY_RESTRICT block = blocks + offset_of_lane;
    hn::StoreU(hn::Add(hn::LoadU(Quads(), block), quad), Quads(), block);
  };
#if LEPUS_NEON
  const TwoOffsets left(at), right(at + 2);
  const std::int64_t first[4] = {left.first(), left.second(), right.first(), right.second()};
#else
  const std::int64_t first[4] = {at[0], at[1], at[2], at[3]};
#endif
  const hn::Half<Floats> half;
#if LEPUS_LANES == 4
  (void)half;
  add(quads0, first[0]);
  add(quads1, first[1]);
  add(quads2, first[2]);
  add(quads3, first[3]);
#else
  add(hn::LowerHalf(half, quads0), first[0]);
  add(hn::LowerHalf(half, quads1), first[1]);
  add(hn::LowerHalf(half, quads2), first[2]);
  add(hn::LowerHalf(half, quads3), first[3]);
  add(hn::UpperHalf(half, quads0), at[4]);
  add(hn::UpperHalf(half, quads1), at[5]);
  add(hn::UpperHalf(half, quads2), at[6]);
  add(hn::UpperHalf(half, quads3), at[7]);
#endif
#else
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  alignas(64) float shares[4 * LEPUS_MAXIMUM_LANES];
  hn::StoreInterleaved4(s00, s01, s10, s11, d, shares);
  for (std::int64_t lane = 0; lane < lanes; ++lane)
    for (std::int64_t i = 0; i < 4; ++i) blocks[at[lane] + i] += shares[4 * lane + i];
#endif
}

template <class Model, bool checked>
HWY_INLINE void share_column(const RayColumn& rays, const float* HWY_RESTRICT values, const BlockBack& job, VF layer,
                             const LayerCells& cells) {
  float* HWY_RESTRICT blocks = job.blocks;
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t r = job.row0; r < job.row1; r += lanes) {
    if (checked && hn::AllFalse(d, rays.crosses(r, layer))) continue;
    VF value = hn::LoadU(d, values + r);
    if (checked) value = hn::IfThenElseZero(rays.crosses(r, layer), value);
    Model::each_block(rays, r, layer, cells, [&](VI offset, VF w0, VF w1, VF w2, VF w3) HWY_ATTR {
      add_shares(hn::Mul(w0, value), hn::Mul(w1, value), hn::Mul(w2, value), hn::Mul(w3, value), offset, blocks);
    });
  }
}

template <class Model>
void block_back(const BlockBack& job) {
  const int a = joseph_axis_a(job.axis);
  const LayerCells cells{CellAxis(job.a_first - job.grid.middle[a], job.a_last - job.grid.middle[a], block_margin),
                         CellAxis(job.z0 - job.grid.middle[2], job.z1 - job.grid.middle[2], block_slices_before),
                         static_cast<std::int32_t>(job.cells)};
  const VF i = hn::Set(Floats(), static_cast<float>(job.layer));
  for (std::int64_t u = job.u0; u < job.u1; ++u) {
    if (job.rays->whole[1 - job.axis][static_cast<std::size_t>(u)]) continue;
    const RayColumn rays(*job.rays, u, job.axis);
    const float* values = job.rays->value.data() + u * job.rays->stride;
    const bool whole = job.rays->whole[job.axis][static_cast<std::size_t>(u)] != 0;
    whole ? share_column<Model, false>(rays, values, job, i, cells)
          : share_column<Model, true>(rays, values, job, i, cells);
  }
}

// A block's voxel `member` is `above` slices above where the block begins.
struct BlockMember {
  int member, above;
};

// column[z] += blocks[z - above][member] of all members given; null: nobody's.
template <int count>
HWY_INLINE void add_members(const float* HWY_RESTRICT blocks, const BlockMember (&members)[count], std::int64_t slices,
                            float* HWY_RESTRICT column) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (!column) return;
  std::int64_t z = 0;
  for (; z + lanes <= slices; z += lanes) {
    VF sum = hn::Zero(d);
    for (const BlockMember& m : members) {
      VF m0, m1, m2, m3;
      hn::LoadInterleaved4(d, blocks + 4 * (z - m.above), m0, m1, m2, m3);
      sum = hn::Add(sum, m.member == 0 ? m0 : m.member == 1 ? m1 : m.member == 2 ? m2 : m3);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, column + z), sum), d, column + z);
  }
  for (; z < slices; ++z) {
    float sum = 0;
    for (const BlockMember& m : members) sum += blocks[4 * (z - m.above) + m.member];
    column[z] += sum;
  }
}

template <class Model>
void add_blocks(const float* blocks, std::int64_t slices, float* lower, float* upper) {
  if constexpr (Model::two_columns) {
    constexpr BlockMember of_lower[] = {{0, 0}, {1, 1}}, of_upper[] = {{2, 0}, {3, 1}};
    add_members(blocks, of_lower, slices, lower);
    add_members(blocks, of_upper, slices, upper);
  } else {
    constexpr BlockMember all[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
    add_members(blocks, all, slices, lower);
  }
}

template <class Model>
HWY_INLINE BlockKernel kernel_of() {
  return {hwy::TargetName(HWY_TARGET), &block_forward<Model>, &block_back<Model>, &add_blocks<Model>};
}

BlockKernel block_kernel(BlockModel model) {
  return model == BlockModel::footprints ? kernel_of<Footprints>()
         : model == BlockModel::lengths  ? kernel_of<TwoByTwo<LengthWeights>>()
                                         : kernel_of<TwoByTwo<LinearWeights>>();
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::cpu {

HWY_EXPORT(block_kernel);

BlockKernel chosen_block_kernel(BlockModel model) { return HWY_DYNAMIC_DISPATCH(block_kernel)(model); }

namespace {

constexpr float never = 1e9F;

// Rays along z, and those that meet no layer, are left out: all of their fields are zero.
template <class Ray>
void set_ray(BlockRays& rays, std::int64_t column, std::int64_t row, const Ray& ray, float value,
             std::initializer_list<float> fields) {
  const bool any = ray.axis < 2 && ray.first < ray.last;
  const auto at = static_cast<std::size_t>(column * rays.stride + row);
  for (int axis = 0; axis < 2; ++axis) {
    const bool own = any && ray.axis == axis;
    rays.first[axis][at] = own ? static_cast<float>(ray.first) : never;
    rays.last[axis][at] = own ? static_cast<float>(ray.last) : -never;
  }
  rays.value[at] = any ? value : 0;
  float* field = rays.field(column, RayField::a0) + row;
  for (const float its_value : fields) {
    *field = any ? its_value : 0;
    field += rays.stride;
  }
}

}  // namespace

void BlockRays::resize(std::int64_t columns, std::int64_t rows, BlockModel model) {
  stride = rows + joseph_padding;
  fields_per_ray = fields_of(model);
  const auto size = static_cast<std::size_t>(columns * stride + joseph_padding);
  fields.assign(size * static_cast<std::size_t>(fields_per_ray), 0.0F);
  value.assign(size, 0.0F);
  for (int axis = 0; axis < 2; ++axis) {
    first[axis].assign(size, never);
    last[axis].assign(size, -never);
    whole[axis].assign(static_cast<std::size_t>(columns), 0);
  }
}

void BlockRays::finish(std::int64_t column, RowBand rows, const bool (&in_front)[2]) {
  for (int axis = 0; axis < 2; ++axis) {
    const float* ends = last[axis].data() + column * stride;
    whole[axis][static_cast<std::size_t>(column)] =
        in_front[axis] &&
        std::all_of(ends + rows.first, ends + rows.last, [](float end_of_ray) { return end_of_ray > -never; });
  }
}

void BlockRays::set(std::int64_t column, std::int64_t row, const JosephRay& ray, float its_value) {
  set_ray(*this, column, row, ray, its_value, {ray.a0, ray.da, ray.b0, ray.db});
}
void BlockRays::set(std::int64_t column, std::int64_t row, const SiddonRay<float>& ray, float its_value) {
  set_ray(*this, column, row, ray, its_value,
          {ray.a0, ray.da, ray.b0, ray.db, ray.per_a, ray.per_b, ray.begin, ray.end});
}
void BlockRays::set(std::int64_t column, std::int64_t row, const FootprintRay<float>& ray, float its_value) {
  set_ray(*this, column, row, ray, its_value,
          {ray.a0, ray.da, ray.b0, ray.db, ray.au0, ray.dau, ray.av0, ray.dav, ray.bu0, ray.dbu, ray.bv0, ray.dbv});
}

}  // namespace lepus::cpu
#endif

// SPDX-License-Identifier: Apache-2.0
// The kernels of footprint_columns.h, compiled for every SIMD target that Highway knows here.
#include "device/host/footprint_columns.h"

#include <algorithm>
#include <cmath>

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/footprint_columns.cpp"
#include "hwy/foreach_target.h"

#include "device/host/heights-inl.h"
#include "device/host/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

static_assert(column_start == first_cell + 1);

// each(rows met, boxes) for every piece of the rows.
template <class Each>
HWY_INLINE void each_piece(const FootprintHeld& held, const FootprintRows& rows, const Each& each) {
  for (int piece = 0; piece < rows.pieces; ++piece) {
    RowLine low = rows.low;
    low.height += static_cast<float>(piece) * rows.piece;
    const RowsMet met = rows_met(low, held.grid, held.rows, held.middle_row, held.z0, held.z1);
    if (met.first >= met.last) continue;
    each(met, Boxes(low, 1 / rows.piece, held.grid, held.rows, held.middle_row, met, held.z0, held.z1));
  }
}

RowSpan footprint_span(const FootprintHeld& held, const FootprintRows& rows) {
  RowSpan span{held.rows.size(), 0};
  each_piece(held, rows, [&](const RowsMet& met, const Boxes& boxes) {
    span.first = std::min(span.first, met.first);
    span.last = std::max(span.last, boxes.end());
  });
  return span;
}

void footprint_sample(const FootprintHeld& held, const FootprintRows& rows, const RowSpan& span, const float* column,
                      float* values, FootprintScratch& scratch) {
  std::fill(values + span.first, values + span.last, 0.0F);
  each_piece(held, rows, [&](const RowsMet& met, const Boxes& boxes) HWY_ATTR {
    sample_column(column, boxes, met, scratch.cells.data(), values);
  });
}

void footprint_share(const FootprintHeld& held, const FootprintRows& rows, const RowSpan&, const float* values,
                     float* column, FootprintScratch& scratch) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t slices = held.z1 - held.z0;
  float* HWY_RESTRICT pairs = scratch.pairs.data();
  std::int64_t low = slices + 2 * first_cell, high = 0;
  each_piece(held, rows, [&](const RowsMet&, const Boxes& boxes) {
    low = std::min(low, boxes.low_cell());
    high = std::max(high, boxes.high_cell());
  });
  if (high < low) return;
  std::fill(pairs + 2 * (low - 1), pairs + 2 * (high + 2 + lanes), 0.0F);
  each_piece(held, rows, [&](const RowsMet& met, const Boxes& boxes) HWY_ATTR {
    make_shares(boxes, met, values, scratch.cells.data(), scratch.shares.data());
    share_out(scratch.shares.data(), scratch.cells.data(), boxes.end() - met.first, pairs);
  });
  add_pairs(pairs, low, high, slices, [&](std::int64_t z, VF sum) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(Floats(), column + z), sum), Floats(), column + z);
  });
}

void footprint_add(const RowSpan& span, float factor, const float* HWY_RESTRICT values, float* HWY_RESTRICT sums) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF by = hn::Set(d, factor);
  for (std::int64_t r = span.first; r < span.last; r += lanes)
    hn::StoreU(hn::MulAdd(by, hn::LoadU(d, values + r), hn::LoadU(d, sums + r)), d, sums + r);
}

FootprintKernel footprint_kernel() {
  return {hwy::TargetName(HWY_TARGET), &footprint_span, &footprint_sample, &footprint_share, &footprint_add};
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::cpu {

HWY_EXPORT(footprint_kernel);

FootprintKernel chosen_footprint_kernel() { return HWY_DYNAMIC_DISPATCH(footprint_kernel)(); }

FootprintRows footprint_rows(const UprightRows& rows, int x, int y, int middle_row) {
  const double step = rows.step[0] + x * rows.step[1] + y * rows.step[2];
  const double middle = rows.z0[0] + x * rows.z0[1] + y * rows.z0[2] + middle_row * step;
  const double height = std::fabs(step);
  FootprintRows out;
  out.pieces = std::max(1, static_cast<int>(std::ceil(height)));
  out.piece = static_cast<float>(std::max(height, 1e-6) / out.pieces);
  out.low = {static_cast<float>(middle - 0.5 * height), static_cast<float>(step)};
  return out;
}

void FootprintScratch::reserve(std::int64_t rows, std::int64_t slices) {
  shares.assign(static_cast<std::size_t>(2 * (rows + joseph_padding)), 0.0F);
  pairs.assign(static_cast<std::size_t>(2 * (slices + 2 * joseph_padding)), 0.0F);
  cells.assign(static_cast<std::size_t>(rows + 2 * joseph_padding), 0);
}

}  // namespace lepus::cpu
#endif

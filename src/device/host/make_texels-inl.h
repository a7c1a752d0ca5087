// SPDX-License-Identifier: Apache-2.0
// Copying what a tile sees of some views into texels (see upright-inl.h), compiled once per SIMD target.
#if defined(LEPUS_BACKEND_CPU_MAKE_TEXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_BACKEND_CPU_MAKE_TEXELS_INL_H_
#undef LEPUS_BACKEND_CPU_MAKE_TEXELS_INL_H_
#else
#define LEPUS_BACKEND_CPU_MAKE_TEXELS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "device/host/kernel.h"
#include "device/host/seen.h"
#include "device/host/simd-inl.h"
#include "device/host/texels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

#if LEPUS_LANES >= 4
// Four rows of each lane, four(lane), into four texels; or, of two lanes, the first and what the second differs from it
// by.
template <int lanes, bool differences, class Four>
HWY_INLINE void interleave_four(const Four& four, float* HWY_RESTRICT out) {
  const Quads d;
  const Quad a = four(0), other = four(1), b = differences ? hn::Sub(other, a) : other;
  const Quad ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);  // a0 b0 a1 b1, a2 b2 a3 b3
  if constexpr (lanes == 2) {
    hn::StoreU(ab0, d, out);
    hn::StoreU(ab1, d, out + 4);
  } else {
    const Quad c = four(2), e = four(3);
    const Quad ce0 = hn::InterleaveLower(d, c, e), ce1 = hn::InterleaveUpper(d, c, e);
    hn::StoreU(hn::ConcatLowerLower(d, ce0, ab0), d, out);
    hn::StoreU(hn::ConcatUpperUpper(d, ce0, ab0), d, out + 4);
    hn::StoreU(hn::ConcatLowerLower(d, ce1, ab1), d, out + 8);
    hn::StoreU(hn::ConcatUpperUpper(d, ce1, ab1), d, out + 12);
  }
}
#endif

// out[i * lanes + lane] = source[lane][i] for n rows, or the difference to the first lane's.
template <int lanes, bool differences>
HWY_INLINE void interleave(const float* const* source, std::int64_t n, float* HWY_RESTRICT out) {
  std::int64_t i = 0;
#if LEPUS_LANES >= 4
  for (; i + 4 <= n; i += 4) {
    const auto four = [&](int lane) HWY_ATTR { return hn::LoadU(Quads(), source[lane] + i); };
    interleave_four<lanes, differences>(four, out + lanes * i);
  }
#endif
  for (; i < n; ++i)
    for (int lane = 0; lane < lanes; ++lane)
      out[lanes * i + lane] = source[lane][i] - (differences && lane > 0 ? source[0][i] : 0.0f);
}

// What a box has of the lanes of a texel. Rows are counted from the box's first.
template <int lanes>
struct BoxSource {
  const float* data[lanes];                     // row 0 of the detector's column 0; perhaps not held
  std::int64_t held_first[lanes], held[lanes];  // rows of the band, also beyond the box
  std::int64_t first[lanes], last[lanes];       // rows of the box that it holds
  std::int64_t row_stride, rows, columns;       // rows of the box, columns of the detector
  std::int64_t further;                         // columns from lane to lane

  bool holds(int lane, std::int64_t column, std::int64_t row) const {
    return column >= 0 && column < columns && row >= first[lane] && row < last[lane];
  }
  // Texel by texel, for what lies at the sides of the detector or the bands.
  template <bool differences>
  void copy_column(std::int64_t column, float* out) const {
    if (column + further * (lanes - 1) < 0 || column >= columns)
      std::fill(out, out + rows * lanes, 0.0f);
    else
      copy_rows<differences>(column, 0, rows, out);
  }
  template <bool differences>
  void copy_rows(std::int64_t column, std::int64_t begin, std::int64_t end, float* out) const {
    for (std::int64_t r = begin; r < end; ++r)
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t c = column + further * lane;
        const float value = holds(lane, c, r) ? data[lane][c * row_stride + r] : 0.0f;
        out[r * lanes + lane] = value - (differences && lane > 0 ? out[r * lanes] : 0.0f);
      }
  }
};

#if LEPUS_LANES >= 4
// A few slices see a few rows, which often begin and end within four, and not at the same row in all views: where the
// band's next four rows are loaded, and which of their bytes belong to the box's four rows; none where it holds none.
struct RowWindow {
  static constexpr std::int64_t maximum_rows = 16;  // of a box
  std::int64_t from;
  alignas(16) std::uint32_t bytes[4];

  RowWindow() = default;
  RowWindow(std::int64_t first, std::int64_t held_first, std::int64_t held)
      : from(std::clamp(first, held_first, held_first + std::max<std::int64_t>(held - 4, 0))) {
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t row = first + i;
      const bool is_held = row >= held_first && row < held_first + held;
      bytes[i] = is_held ? 0x03020100U + 0x04040404U * static_cast<std::uint32_t>(row - from) : 0x80808080U;
    }
  }
  HWY_INLINE Quad operator()(const float* HWY_RESTRICT column) const {
    const hn::FixedTag<std::uint8_t, 16> d8;
    const hn::FixedTag<std::uint32_t, 4> d32;
    const auto loaded = hn::BitCast(d8, hn::LoadU(Quads(), column + from));
    return hn::BitCast(Quads(), hn::TableLookupBytesOr0(loaded, hn::BitCast(d8, hn::Load(d32, bytes))));
  }
};

// Columns [begin, end) of a box of few rows.
template <int lanes, bool differences>
HWY_INLINE void copy_few_rows(const BoxSource<lanes>& source, std::int64_t begin, std::int64_t end, std::int64_t stride,
                              float* HWY_RESTRICT out) {
  RowWindow windows[RowWindow::maximum_rows / 4][lanes];
  const float* column[lanes];
  for (int lane = 0; lane < lanes; ++lane) {
    column[lane] = source.data[lane] + (begin + source.further * lane) * source.row_stride;
    for (std::int64_t row = 0; row < source.rows; row += 4)
      windows[row / 4][lane] = RowWindow(row, source.held_first[lane], source.held[lane]);
  }
  for (std::int64_t c = begin; c < end; ++c, out += stride) {
    for (std::int64_t row = 0; row < source.rows; row += 4) {
      const auto four = [&](int lane) HWY_ATTR { return windows[row / 4][lane](column[lane]); };
      interleave_four<lanes, differences>(four, out + row * lanes);
    }
    for (int lane = 0; lane < lanes; ++lane) column[lane] += source.row_stride;
  }
}

// How many columns of the detector, from its first on, can be loaded four rows at a time: not where that would read
// past the end of a band.
template <int lanes>
std::int64_t columns_of_whole_windows(const BoxSource<lanes>& source) {
  std::int64_t columns = source.columns;
  for (int lane = 0; lane < lanes; ++lane) {
    const std::int64_t missing = std::max<std::int64_t>(4 - source.held[lane], 0);
    columns = source.held[lane] == 0
                  ? 0
                  : std::min(columns, source.columns - (missing + source.row_stride - 1) / source.row_stride);
  }
  return columns - source.further * (lanes - 1);
}
#endif

// Copies the box: texel (column, row) at [column * stride + row * texel_size], counted from the box's corner. Lane l of
// a group holds the view that voxel l of the turned four (two) sees; without a group, lane l is l columns further on,
// or the difference to it.
template <Interpolation kind, int group, bool differences = false>
HWY_INLINE const float* make_texels(const Job& job, const ViewBand* bands, const PixelBox& box, int turn,
                                    Scratch& scratch, std::int64_t& stride) {
  constexpr int lanes = texel_size(kind, group);
  const std::int64_t rows = box.rows.size();
  stride = (rows * lanes + 31) / 32 * 32 + 16;  // an odd number of half lines: columns do not compete for one cache set
  const std::int64_t size = box.columns.size() * stride + overread;
  if (scratch.box.size() < size) scratch.box = Buffer<float>(size);
  float* texels = scratch.box.data();
  BoxSource<lanes> source;
  source.row_stride = job.wedge->row_stride;
  source.rows = rows;
  source.columns = job.columns;
  source.further = group > 1 ? 0 : 1;
  std::int64_t from = 0, to = rows;  // rows that all bands hold
  for (int lane = 0; lane < lanes; ++lane) {
    const ViewBand& band = group > 1 ? bands[(lane + group - turn) % group] : bands[0];
    source.held_first[lane] = band.first_row - box.rows.first;
    source.held[lane] = band.rows;
    source.first[lane] = std::clamp<std::int64_t>(source.held_first[lane], 0, rows);
    source.last[lane] = std::clamp<std::int64_t>(source.held_first[lane] + band.rows, source.first[lane], rows);
    source.data[lane] = band.data - source.held_first[lane];
    from = std::max(from, source.first[lane]);
    to = std::min(to, source.last[lane]);
  }
  to = std::max(from, to);
  bool same_rows = true;  // in all bands: what lies around them is zero
  for (int lane = 0; lane < lanes; ++lane)
    same_rows = same_rows && source.first[lane] == from && source.last[lane] == to;
  // Columns that are on the detector in all lanes; at its sides texel by texel.
  const std::int64_t first = box.columns.first, end = box.columns.last + 1;
  std::int64_t on_end = job.columns - source.further * (lanes - 1);
#if LEPUS_LANES >= 4
  const bool few = rows <= RowWindow::maximum_rows;
  if (few) on_end = columns_of_whole_windows(source);
#endif
  on_end = std::clamp(on_end, first, end);
  const std::int64_t on_begin = std::clamp<std::int64_t>(0, first, on_end);
  const auto texels_of = [&](std::int64_t column) { return texels + (column - first) * stride; };
  for (std::int64_t c = first; c < on_begin; ++c) source.template copy_column<differences>(c, texels_of(c));
  for (std::int64_t c = on_end; c < end; ++c) source.template copy_column<differences>(c, texels_of(c));
#if LEPUS_LANES >= 4
  if (few) {
    copy_few_rows<lanes, differences>(source, on_begin, on_end, stride, texels_of(on_begin));
    return texels;
  }
#endif
  const float* column[lanes];
  for (int lane = 0; lane < lanes; ++lane)
    column[lane] = source.data[lane] + (on_begin + source.further * lane) * source.row_stride + from;
  for (std::int64_t c = on_begin; c < on_end; ++c) {
    float* out = texels_of(c);
    if (same_rows) {
      std::fill(out, out + from * lanes, 0.0f);
      std::fill(out + to * lanes, out + rows * lanes, 0.0f);
    } else {
      source.template copy_rows<differences>(c, 0, from, out);
      source.template copy_rows<differences>(c, to, rows, out);
    }
    interleave<lanes, differences>(column, to - from, out + from * lanes);
    for (int lane = 0; lane < lanes; ++lane) column[lane] += source.row_stride;
  }
  return texels;
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif

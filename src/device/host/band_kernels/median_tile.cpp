// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/median_tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "device/host/band_kernels/row_kernels.h"

namespace lepus::filters {
namespace {

// Of a mask about i, how much lies within n.
std::int64_t part_inside(std::int64_t i, std::int64_t n, std::int64_t reach) {
  return std::min(i + reach, n - 1) - std::max<std::int64_t>(i - reach, 0) + 1;
}

template <class T>
void grow(std::vector<T>& memory, std::int64_t size) {
  if (static_cast<std::int64_t>(memory.size()) < size) memory.resize(static_cast<std::size_t>(size));
}

}  // namespace

void MedianTile::gather(const Pass& pass, const Stack& from, const TileRegion& tile) {
  grow(keys_, size_);
  grow(line_, wide_);
  const bool partial = pass.border == FilterBorder::partial;
  const std::int64_t x0 = tile.columns.first - pass.reach_u, y0 = tile.rows.first - pass.reach_v;
  std::uint64_t place = 0;
  for (std::int64_t dz = -pass.reach_z; dz <= pass.reach_z; ++dz)
    for (std::int64_t y = y0; y < y0 + high_; ++y) {
      const std::int64_t z = tile.plane + dz;
      gather_row(pass, from, z, y, x0, x0 + wide_, 0, line_.data());
      const bool row_there = z >= 0 && z < from.planes && y >= 0 && y < from.rows;
      for (std::int64_t i = 0; i < wide_; ++i, ++place) {
        std::uint64_t key = ordered_bits(std::bit_cast<std::uint32_t>(line_[static_cast<std::size_t>(i)]));
        if (partial && !(row_there && x0 + i >= 0 && x0 + i < from.part.width)) key = absent;
        keys_[place] = key << 32 | place;
      }
    }
}

// By the upper half, 8 bits at a time, from the lowest; equal values keep their order.
void MedianTile::sort() {
  grow(spare_, size_);
  std::array<std::array<std::uint32_t, 256>, 4> starts{};
  for (std::int64_t i = 0; i < size_; ++i)
    for (std::size_t digit = 0; digit < 4; ++digit)
      ++starts[digit][keys_[static_cast<std::size_t>(i)] >> (32 + 8 * digit) & 255];
  for (std::size_t digit = 0; digit < 4; ++digit) {
    std::uint32_t sum = 0;
    bool one_value = false;
    for (std::uint32_t& start : starts[digit]) {
      one_value = one_value || start == size_;
      start = std::exchange(sum, sum + start);
    }
    if (one_value) continue;
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::uint64_t key = keys_[static_cast<std::size_t>(i)];
      spare_[starts[digit][key >> (32 + 8 * digit) & 255]++] = key;
    }
    std::swap(keys_, spare_);
    grow(keys_, size_);
  }
}

void MedianTile::cut_into_buckets() {
  // 128 buckets of at most 2^12 pixels, more where these do not hold all: a group of 8 is counted in 16 bits.
  shift_ = 0;
  while (shift_ < 12 && (size_ - 1) >> shift_ >= 128) ++shift_;
  buckets_ = std::max<std::int64_t>(128, (((size_ - 1) >> shift_) + 8) / 8 * 8);
  stride_ = (buckets_ + buckets_ / 8 + 31) / 32 * 32;
  grow(sorted_, size_);
  grow(bucket_, size_);
  grow(x_, size_ + slack);
  grow(y_, size_ + slack);
  const auto wide = static_cast<std::uint32_t>(wide_), high = static_cast<std::uint32_t>(high_);
  for (std::int64_t rank = 0; rank < size_; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const auto place = static_cast<std::uint32_t>(keys_[i]);
    sorted_[i] = std::bit_cast<float>(float_bits_of(static_cast<std::uint32_t>(keys_[i] >> 32)));
    const std::uint32_t row = place / wide;
    x_[i] = static_cast<std::uint16_t>(place - row * wide);
    y_[i] = static_cast<std::uint16_t>(row % high);
    bucket_[place] = static_cast<std::uint16_t>(rank >> shift_);
  }
}

// Pixels of row y, in all planes, enter (+1) or leave (-1) the histograms of their columns.
void MedianTile::count_row(std::uint16_t* counts_of_column0, std::int64_t y, int sign) {
  for (std::int64_t z = 0; z < deep_; ++z) {
    const std::uint16_t* bucket = bucket_.data() + (z * high_ + y) * wide_;
    std::uint16_t* counts = counts_of_column0;
    for (std::int64_t x = 0; x < wide_; ++x, counts += stride_) {
      counts[bucket[x]] = static_cast<std::uint16_t>(counts[bucket[x]] + sign);
      std::uint16_t& group = counts[buckets_ + bucket[x] / 8];
      group = static_cast<std::uint16_t>(group + sign);
    }
  }
}

// The value of the given rank among the pixels that are counted, whose mask begins at (x, y).
float MedianTile::select(std::int64_t rank, std::int64_t x, std::int64_t y) const {
  const std::uint16_t* group = counts_.data() + buckets_;
  while (rank >= *group) rank -= *group++;
  const std::uint16_t* bucket = counts_.data() + (group - counts_.data() - buckets_) * 8;
  while (rank >= *bucket) rank -= *bucket++;
  const std::int64_t first = (bucket - counts_.data()) << shift_;
  return sorted_[static_cast<std::size_t>(
      first + row_kernels().nth_in_window(x_.data() + first, y_.data() + first, static_cast<std::uint16_t>(x),
                                          static_cast<std::uint16_t>(y), static_cast<std::uint16_t>(span_), rank))];
}

void MedianTile::run(const Pass& pass, const Stack& from, const Stack& to, const TileRegion& tile) {
  span_ = 2 * pass.reach_u;
  wide_ = tile.columns.size() + span_;
  high_ = tile.rows.size() + 2 * pass.reach_v;
  deep_ = 2 * pass.reach_z + 1;
  size_ = wide_ * high_ * deep_;
  gather(pass, from, tile);
  sort();
  cut_into_buckets();
  const std::int64_t mask_rows = 2 * pass.reach_v + 1;
  const bool one_row = mask_rows * deep_ == 1, partial = pass.border == FilterBorder::partial;
  nothing_.assign(static_cast<std::size_t>(stride_), 0);
  if (!one_row) columns_.assign(static_cast<std::size_t>(stride_ * wide_), 0);
  const RowKernels& kernels = row_kernels();
  const auto column = [&](std::int64_t x) { return columns_.data() + x * stride_; };
  for (std::int64_t y = 0; y < tile.rows.size(); ++y) {
    if (!one_row) {
      for (std::int64_t k = y == 0 ? 0 : mask_rows - 1; k < mask_rows; ++k) count_row(columns_.data(), y + k, 1);
      if (y > 0) count_row(columns_.data(), y - 1, -1);
    }
    counts_.assign(static_cast<std::size_t>(stride_), 0);
    const std::uint16_t* bucket = bucket_.data() + y * wide_;  // where the mask has one row
    const auto count = [&](std::int64_t x, int sign) {
      std::uint16_t &fine = counts_[bucket[x]], &group = counts_[static_cast<std::size_t>(buckets_ + bucket[x] / 8)];
      fine = static_cast<std::uint16_t>(fine + sign);
      group = static_cast<std::uint16_t>(group + sign);
    };
    for (std::int64_t x = 0; x <= span_; ++x)
      if (one_row)
        count(x, 1);
      else
        kernels.move_counts(counts_.data(), column(x), nothing_.data(), stride_);
    const std::int64_t row = tile.rows.first + y;
    const std::int64_t others =
        partial ? part_inside(row, from.rows, pass.reach_v) * part_inside(tile.plane, from.planes, pass.reach_z)
                : mask_rows * deep_;
    float* out = to.row(tile.plane, row) + tile.columns.first;
    for (std::int64_t x = 0; x < tile.columns.size(); ++x) {
      if (x > 0 && one_row)
        count(x - 1, -1), count(x + span_, 1);
      else if (x > 0)
        kernels.move_counts(counts_.data(), column(x + span_), column(x - 1), stride_);
      const std::int64_t across =
          partial ? part_inside(tile.columns.first + x, from.part.width, pass.reach_u) : span_ + 1;
      out[x] = select((across * others - 1) / 2, x, y);
    }
  }
}

}  // namespace lepus::filters

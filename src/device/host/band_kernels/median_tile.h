// SPDX-License-Identifier: Apache-2.0
// The exact median of floats over the masks of one tile of pixels, at a cost that hardly depends on the mask: the
// tile's values are sorted once and cut by rank into buckets of equal size; a sliding histogram of buckets finds the
// one that holds the median (Perreault and Hebert, IEEE Trans. Image Process. 16, 2007: each column has its own
// histogram), and of that bucket's sorted pixels the right one among those under the mask is the median.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "device/host/band_kernels/host_passes.h"

namespace lepus::filters {

struct TileRegion {
  std::int64_t plane = 0;
  RowBand rows, columns;
};

// Scratch memory of one thread; grows to what the largest tile needs.
class MedianTile {
public:
  void run(const Pass& pass, const Stack& from, const Stack& to, const TileRegion& tile);

private:
  void gather(const Pass& pass, const Stack& from, const TileRegion& tile);
  void sort();
  void cut_into_buckets();
  void count_row(std::uint16_t* counts_of_column0, std::int64_t y, int sign);
  float select(std::int64_t rank, std::int64_t x, std::int64_t y) const;

  std::int64_t wide_ = 0, high_ = 0, deep_ = 0, size_ = 0;  // of the tile with all that its masks see
  std::int64_t span_ = 0;                                   // the mask is span_ + 1 pixels wide
  int shift_ = 0;                                           // rank >> shift_ is the bucket
  std::int64_t buckets_ = 0, stride_ = 0;    // a histogram: counts of buckets, then of groups of 8, then room
  std::vector<std::uint64_t> keys_, spare_;  // value above, place below
  std::vector<float> line_, sorted_;
  std::vector<std::uint16_t> x_, y_;   // of the sorted pixels
  std::vector<std::uint16_t> bucket_;  // by place
  std::vector<std::uint16_t> columns_, counts_, nothing_;
};

}  // namespace lepus::filters

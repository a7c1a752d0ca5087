// SPDX-License-Identifier: Apache-2.0
// The sum over all ranks of an array of which each has a part, to all of them. The order of additions is that of the
// ranks, whatever the timing, so that the same number of ranks gives the same bits. Each rank sums a segment of the
// array, piece by piece, and sends it to all others: every value goes out twice, however many ranks there are.
#pragma once

#include <cstdint>
#include <vector>

#include <lepus/ranks.h>

namespace lepus {

struct ArrayRange {
  std::int64_t first = 0, last = 0;
  std::int64_t size() const { return last > first ? last - first : 0; }
};
ArrayRange common_range(ArrayRange a, ArrayRange b);
// The part that a rank gets of so many of something.
ArrayRange share_of_rank(std::int64_t count, int rank, int ranks);

class SharedSum {
public:
  // By all ranks. mine: where this one's part lies among `count` values.
  SharedSum(Ranks& ranks, std::int64_t count, ArrayRange mine);
  // By all ranks. values: the whole array, of which only this rank's part is looked at; becomes the sum.
  void operator()(float* values);

private:
  ArrayRange segment(int rank) const { return share_of_rank(count_, rank, ranks_.size()); }
  ArrayRange piece(int rank, std::int64_t number) const;
  // Rank r + step, and r - step, in the circle of all.
  int after(int step) const { return (ranks_.rank() + step) % ranks_.size(); }
  int before(int step) const { return (ranks_.rank() + ranks_.size() - step) % ranks_.size(); }
  void sum_piece(float* values, std::int64_t number);

  Ranks& ranks_;
  std::int64_t count_, piece_values_, pieces_;
  std::vector<ArrayRange> parts_;            // by rank
  std::vector<std::vector<float>> arrived_;  // by rank: its part of the piece that this one sums
  std::vector<float> total_;
};

}  // namespace lepus

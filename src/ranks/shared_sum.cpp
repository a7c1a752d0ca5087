// SPDX-License-Identifier: Apache-2.0
#include "ranks/shared_sum.h"

#include <algorithm>

#include "ranks/agree.h"

namespace lepus {

ArrayRange common_range(ArrayRange a, ArrayRange b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

ArrayRange share_of_rank(std::int64_t count, int rank, int ranks) {
  const std::int64_t each = count / ranks, more = count % ranks;
  const auto first = [&](int number) { return number * each + std::min<std::int64_t>(number, more); };
  return {first(rank), first(rank + 1)};
}

SharedSum::SharedSum(Ranks& ranks, std::int64_t count, ArrayRange mine)
    : ranks_(ranks),
      count_(count),
      // What waits to be summed is one message in all.
      piece_values_(std::max<std::int64_t>(1, Ranks::message_values / ranks.size())),
      pieces_((segment(0).size() + piece_values_ - 1) / piece_values_),
      arrived_(static_cast<std::size_t>(ranks.size())) {
  // Array lengths are exact in double precision.
  const std::vector<double> first = numbers_of_all(ranks, static_cast<double>(mine.first)),
                            last = numbers_of_all(ranks, static_cast<double>(mine.last));
  for (std::size_t rank = 0; rank < first.size(); ++rank)
    parts_.push_back({static_cast<std::int64_t>(first[rank]), static_cast<std::int64_t>(last[rank])});
}

ArrayRange SharedSum::piece(int rank, std::int64_t number) const {
  const std::int64_t first = segment(rank).first + number * piece_values_;
  return common_range(segment(rank), {first, first + piece_values_});
}

void SharedSum::sum_piece(float* values, std::int64_t number) {
  const ArrayRange mine = piece(ranks_.rank(), number);
  const auto part_of = [&](int rank, ArrayRange range) {
    return common_range(parts_[static_cast<std::size_t>(rank)], range);
  };
  for (int step = 1; step < ranks_.size(); ++step) {
    const int to = after(step), from = before(step);
    const ArrayRange out = part_of(ranks_.rank(), piece(to, number)), in = part_of(from, mine);
    std::vector<float>& arrived = arrived_[static_cast<std::size_t>(from)];
    arrived.resize(static_cast<std::size_t>(in.size()));
    ranks_.exchange(to, values + out.first, out.size(), from, arrived.data(), in.size());
  }
  total_.assign(static_cast<std::size_t>(mine.size()), 0.0F);
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const ArrayRange part = part_of(rank, mine);
    if (part.size() == 0) continue;
    const float* from = rank == ranks_.rank() ? values + part.first : arrived_[static_cast<std::size_t>(rank)].data();
    float* to = total_.data() + (part.first - mine.first);
    for (std::int64_t i = 0; i < part.size(); ++i) to[i] += from[i];
  }
  std::copy(total_.begin(), total_.end(), values + mine.first);
}

void SharedSum::operator()(float* values) {
  for (std::int64_t number = 0; number < pieces_; ++number) sum_piece(values, number);
  for (int step = 1; step < ranks_.size(); ++step)
    for (std::int64_t number = 0; number < pieces_; ++number) {
      const ArrayRange out = piece(ranks_.rank(), number), in = piece(before(step), number);
      ranks_.exchange(after(step), values + out.first, out.size(), before(step), values + in.first, in.size());
    }
}

}  // namespace lepus

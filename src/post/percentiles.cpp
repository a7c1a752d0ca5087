// SPDX-License-Identifier: Apache-2.0
#include "post/percentiles.h"

#include <algorithm>
#include <bit>

#include "project/filter_window.h"

namespace lepus::post {
namespace {

std::uint32_t ordered(float value) {
  return filters::ordered_bits(std::bit_cast<std::uint32_t>(value == 0 ? 0.0f : value));  // -0 counts as 0
}

}  // namespace

PercentileFinder::PercentileFinder(std::vector<double> percents, int threads)
    : percents_(std::move(percents)), threads_(threads) {
  counts_.push_back(empty_counts());
}

PercentileFinder::~PercentileFinder() = default;

std::int64_t PercentileFinder::memory_bytes(int threads) {
  return std::int64_t{5} * threads *
         static_cast<std::int64_t>(sizeof(Counts));  // two percentiles have at most four neighbours
}

void PercentileFinder::add(const float* values, std::int64_t n, ThreadPool& threads) {
  threads.parallel_for(0, n, 1 << 16, [&](std::int64_t begin, std::int64_t end, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    if (!second_) {
      Counts& counts = *counts_[0][w];
      for (std::int64_t i = begin; i < end; ++i) ++counts[ordered(values[i]) >> 16];
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint32_t key = ordered(values[i]);
      for (std::size_t h = 0; h < uppers_.size(); ++h)
        if (key >> 16 == uppers_[h]) ++(*counts_[h][w])[key & 0xffff];
    }
  });
  if (!second_) count_ += n;
}

PercentileFinder::OfWorkers PercentileFinder::empty_counts() const {
  OfWorkers counts;
  for (int i = 0; i < threads_; ++i) counts.push_back(std::make_unique<Counts>());
  return counts;
}

std::int64_t PercentileFinder::rank_of(double percent) const {
  return static_cast<std::int64_t>(std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(count_ - 1));
}

void PercentileFinder::start_second_pass() {
  for (const double percent : percents_)
    for (const std::int64_t rank : {rank_of(percent), std::min(rank_of(percent) + 1, count_ - 1)}) {
      Search search;
      search.rank = rank;
      for (;; ++search.upper) {
        std::int64_t here = 0;
        for (const auto& worker : counts_[0]) here += (*worker)[search.upper];
        if (search.before + here > rank || search.upper == 65535) break;
        search.before += here;
      }
      const auto known = std::find(uppers_.begin(), uppers_.end(), search.upper);
      search.histogram = static_cast<std::size_t>(known - uppers_.begin());
      if (known == uppers_.end()) uppers_.push_back(search.upper);
      searches_.push_back(search);
    }
  counts_.clear();
  for (std::size_t i = 0; i < uppers_.size(); ++i) counts_.push_back(empty_counts());
  second_ = true;
}

double PercentileFinder::value_at(std::int64_t rank) const {
  const auto search = std::find_if(searches_.begin(), searches_.end(), [&](const Search& s) { return s.rank == rank; });
  std::int64_t before = search->before;
  std::uint32_t lower = 0;
  for (; lower < 65535; ++lower) {
    for (const auto& worker : counts_[search->histogram]) before += (*worker)[lower];
    if (before > rank) break;
  }
  return static_cast<double>(std::bit_cast<float>(filters::float_bits_of(search->upper << 16 | lower)));
}

std::vector<double> PercentileFinder::percentiles() const {
  std::vector<double> values;
  for (const double percent : percents_) {
    const std::int64_t below = rank_of(percent);
    const double place = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(count_ - 1);
    const double low = value_at(below), high = value_at(std::min(below + 1, count_ - 1));
    values.push_back(low + (place - static_cast<double>(below)) * (high - low));
  }
  return values;
}

}  // namespace lepus::post

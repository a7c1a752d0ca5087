// SPDX-License-Identifier: Apache-2.0
// Mean and standard deviation from sums of integers, which are the same in any order: values are rounded to 24 bits
// between the smallest and the largest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/histogram.h"
#include "analysis/wide_sum.h"

namespace lepus::analysis {

// Value <-> level 0 to 2^24 - 1.
class ValueScale {
public:
  explicit ValueScale(const Survey& looked)
      : smallest_(looked.smallest),
        per_value_(levels / std::max(1e-300, static_cast<double>(looked.largest) - looked.smallest)) {}
  std::uint64_t level(float value) const {
    const double level = std::clamp((static_cast<double>(value) - smallest_) * per_value_, 0.0, levels);
    return static_cast<std::uint64_t>(std::floor(level + 0.5));
  }
  double value(double level) const { return smallest_ + level / per_value_; }
  double difference(double levels_apart) const { return levels_apart / per_value_; }

private:
  static constexpr double levels = (1 << 24) - 1;
  double smallest_, per_value_;
};

// What is measured may reach out of the region: its range, found by several threads, beside the region's.
class RangeFinder {
public:
  explicit RangeFinder(int workers) : found_(static_cast<std::size_t>(workers)) {}
  void add(float value, int worker) {
    auto& [smallest, largest] = found_[static_cast<std::size_t>(worker)];
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  Survey widened(Survey looked) const {
    for (const auto& [smallest, largest] : found_) {
      looked.smallest = std::min(looked.smallest, smallest);
      looked.largest = std::max(looked.largest, largest);
    }
    return looked;
  }

private:
  struct Range {
    float smallest = std::numeric_limits<float>::infinity(), largest = -smallest;
  };
  std::vector<Range> found_;
};

class ValueSums {
public:
  void add(std::uint64_t level) {
    ++count_;
    sum_ += level;
    squares_.add(level * level);
  }
  void add(const ValueSums& other) {
    count_ += other.count_;
    sum_ += other.sum_;
    squares_.add(other.squares_);
  }
  std::int64_t count() const { return count_; }
  double mean(const ValueScale& scale) const { return scale.value(mean_level()); }
  double spread(const ValueScale& scale) const {
    const double mean = mean_level();
    return scale.difference(std::sqrt(std::max(0.0, squares_.value() / static_cast<double>(count_) - mean * mean)));
  }

private:
  double mean_level() const { return static_cast<double>(sum_) / static_cast<double>(count_); }
  std::int64_t count_ = 0;
  std::uint64_t sum_ = 0;
  WideSum squares_;
};

}  // namespace lepus::analysis

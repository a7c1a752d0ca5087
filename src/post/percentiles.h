// SPDX-License-Identifier: Apache-2.0
// Exact percentiles of more values than fit into memory, in two passes over them: the first counts the upper 16 bits of
// every value (as an integer of the same order), the second the lower 16 bits of those values that share them with a
// percentile. Linear between neighbours, as NumPy has it. The answer does not depend on the order of the values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/threads.h"

namespace lepus::post {

class PercentileFinder {
public:
  PercentileFinder(std::vector<double> percents, int threads);
  ~PercentileFinder();

  static std::int64_t memory_bytes(int threads);

  // First all values, in pieces; then start_second_pass(); then the same values again, in any pieces. Finite ones.
  void add(const float* values, std::int64_t n, ThreadPool& threads);
  void start_second_pass();
  std::vector<double> percentiles() const;

private:
  using Counts = std::array<std::int64_t, 65536>;
  using OfWorkers = std::vector<std::unique_ptr<Counts>>;
  struct Search {               // for the value of one rank
    std::int64_t rank = 0;      // among all values
    std::uint32_t upper = 0;    // its upper 16 bits
    std::int64_t before = 0;    // values with smaller upper bits
    std::size_t histogram = 0;  // where its lower bits are counted
  };
  OfWorkers empty_counts() const;
  std::int64_t rank_of(double percent) const;
  double value_at(std::int64_t rank) const;

  std::vector<double> percents_;
  int threads_;
  std::int64_t count_ = 0;
  std::vector<OfWorkers> counts_;      // one in the first pass, one for each of uppers_ in the second
  std::vector<std::uint32_t> uppers_;  // of the second pass's histograms
  std::vector<Search> searches_;
  bool second_ = false;
};

}  // namespace lepus::post

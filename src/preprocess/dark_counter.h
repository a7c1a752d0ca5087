// SPDX-License-Identifier: Apache-2.0
// Counts recorded pixels that are not above their dark: they have no logarithm, so that one count is taken instead, and
// what they draw into the volume is made up. Which row and column have most of them says whether the detector or the
// object is the cause.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "preprocess/normalise.h"

namespace lepus {

struct DarkPixels {
  std::int64_t pixels = 0;
  // The row and the column that have most of them, counted over all views.
  std::int64_t row = 0, in_row = 0, column = 0, in_column = 0;
};

class DarkCounter {
public:
  // `left_out`: pixels (row * columns + column, ascending) that are not counted.
  DarkCounter(const Normalisation& normalisation, const std::vector<std::int64_t>& left_out, PixelType type,
              std::int64_t rows);

  // A row as it was recorded, in host order. Thread-safe.
  void record(std::int64_t row, const void* pixels);
  DarkPixels found() const;

  // What was counted so far, for a state that another process goes on from; only rows and columns that have any.
  struct Counts {
    std::map<std::int64_t, std::int64_t> in_row, in_column;
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  Counts counts() const;
  void add(const Counts& counts);  // Error(input) where they are of another detector

private:
  const Normalisation& normalisation_;
  PixelType type_;
  std::vector<float> levels_;  // of every pixel, where some are left out; else the normalisation's own are used
  std::vector<std::atomic<std::int64_t>> in_row_, in_column_;
};

}  // namespace lepus

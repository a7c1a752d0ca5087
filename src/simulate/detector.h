// SPDX-License-Identifier: Apache-2.0
// From line integrals to grey levels: photons, gain, offset, noise, faults, quantisation. Every random number belongs
// to (seed, frame, pixel), so that the same options give the same bits on any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/threads.h"
#include <lepus/simulate.h>

namespace lepus {

// Throws Error(usage) naming the option.
void check(const SimulatedDetector& options, std::int64_t columns, std::int64_t rows);

enum class Exposure { view, flat, dark };

class Detector {
public:
  Detector(std::int64_t columns, std::int64_t rows, const SimulatedDetector& options);

  std::int64_t highest_level() const { return (std::int64_t{1} << options_.bits) - 1; }
  const std::vector<float>& gain() const { return gain_; }                // empty: 1 everywhere
  const std::vector<float>& offset() const { return offset_; }            // grey levels
  const std::vector<std::int64_t>& hot_pixels() const { return hot_; }    // row * columns + column, sorted
  const std::vector<std::int64_t>& dead_pixels() const { return dead_; }  // without the dead columns, sorted
  const std::vector<std::int64_t>& dead_columns() const { return dead_columns_; }
  double beam(std::int64_t view, std::int64_t views) const;  // 1 without drift and flicker; flats are taken at 1

  // One frame of grey levels. line_integrals: of the view; ignored for flats and darks. Returns how many pixels
  // saturated, hot ones not counted.
  std::int64_t expose(Exposure kind, std::int64_t index, double beam, const float* line_integrals,
                      std::uint16_t* levels, ThreadPool& threads) const;

private:
  enum class State : std::uint8_t { good, hot, dead };

  std::int64_t columns_, rows_;
  SimulatedDetector options_;
  std::vector<float> gain_, offset_;
  std::vector<State> state_;
  std::vector<std::int64_t> hot_, dead_, dead_columns_;
};

}  // namespace lepus

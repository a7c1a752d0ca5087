// SPDX-License-Identifier: Apache-2.0
// The steps on sinograms that the Iowa State reconstruction timed, each on a stack of equal sinograms, on the host or
// on a device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/papers/parts.h"
#include "correct/correction.h"
#include "project/planes.h"

namespace lepus::bench {

// One stack of sinograms of grey levels: [sinogram][view][column].
struct SinogramStack {
  std::int64_t columns = 0, views = 0, count = 0;
  std::vector<float> sinogram;  // all of the stack are like it

  std::int64_t pixels() const { return columns * views; }
  Planes planes(float* data) const { return {data, columns, views, columns, count, pixels()}; }
  SinogramBand band(float* data) const { return {data, columns, views, {0, count}, count}; }
};

// What is done to a stack: filters write to another one, corrections work in place.
struct SinogramStep {
  std::string name;
  double published_seconds = 0;  // per sinogram
  bool in_place = false;
  double error_limit = 0;
  std::function<void(const SinogramStack&, float* in, float* out, Queue&)> work;
  std::function<void(const SinogramStack& one, float* in, float* out)> reference;
};

}  // namespace lepus::bench

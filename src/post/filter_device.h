// SPDX-License-Identifier: Apache-2.0
// Filters on a GPU for stacks of slices that lie in host memory: up, filtered, down. Host stacks -> host stacks, the
// same values as the filters of the CPU to float rounding.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "correct/filters/filter.h"

namespace lepus::post {

class FilterDevice {
public:
  explicit FilterDevice(int device);  // throws Error(unsupported) where it cannot be used
  ~FilterDevice();
  FilterDevice(const FilterDevice&) = delete;
  FilterDevice& operator=(const FilterDevice&) = delete;

  std::string name() const;
  std::int64_t free_bytes() const;

  // Packed stacks: rows and planes without gaps.
  void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut);
  // Along rows, then along columns of every plane, options.iterations times; options.dimensions is 1.
  void filter_separately(const Planes& in, const Planes& out, const FilterOptions& options);

private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string why_no_filter_device();  // empty where there is one

}  // namespace lepus::post

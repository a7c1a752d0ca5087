// SPDX-License-Identifier: Apache-2.0
// Filters on a device for stacks of slices that lie in host memory: up, filtered, down. Host stacks -> host stacks, the
// same values as the filters of the CPU to float rounding.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"
#include "project/filter_options.h"

namespace lepus::post {

class FilterDevice {
public:
  explicit FilterDevice(std::unique_ptr<Device> device);

  std::string name() const { return device_->info().name; }
  std::int64_t free_bytes() const { return device_->free_bytes(); }

  // Packed stacks: rows and planes without gaps.
  void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut);
  // Along rows, then along columns of every plane, options.iterations times; options.dimensions is 1.
  void filter_separately(const Planes& in, const Planes& out, const FilterOptions& options);

private:
  Planes take(const Planes& like);  // scratch memory of the device
  void copy(const Planes& from, const Planes& to);

  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace lepus::post

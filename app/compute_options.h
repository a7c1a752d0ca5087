// SPDX-License-Identifier: Apache-2.0
// What computes a reconstruction: the options that `plan` and `reconstruct` share.
#pragma once

#include <memory>
#include <string>

#include "app/options.h"
#include <lepus/reconstruct.h>

namespace lepus::app {

struct ComputeOptions {
  std::string backend = "auto", device = "0", precision = "half", device_memory;

  void describe(OptionTable& table);
  Compute compute() const;  // throws Error(usage)
};

// Throws Error(usage) for anything but "all" and numbers with commas between them, on machines without a GPU too.
void check_device_list(const std::string& text);

}  // namespace lepus::app

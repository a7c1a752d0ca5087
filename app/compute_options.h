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
  void fill(ReconstructOptions& options) const;  // throws Error(usage)
};

}  // namespace lepus::app

// SPDX-License-Identifier: Apache-2.0
// What computes a reconstruction: the options that `plan` and `reconstruct` share.
#pragma once

#include <memory>
#include <string>

#include "app/options.h"
#include <lepus/ranks.h>
#include <lepus/reconstruct.h>

namespace lepus::app {

struct ComputeOptions {
  std::string backend = "auto", device = "auto", precision = "half", device_memory;

  void describe(OptionTable& table);
  // Throws Error(usage). The GPU that "auto" stands for is the first one, and of several ranks of a node each takes the
  // next one, by its number among them.
  Compute compute(const Ranks* ranks = nullptr) const;
};

// Throws Error(usage) for anything but "auto", "all" and numbers with commas between them, on machines without a GPU
// too.
void check_device_list(const std::string& text);

}  // namespace lepus::app

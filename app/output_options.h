// SPDX-License-Identifier: Apache-2.0
// --output-type and --output-range: what a command stores of the voxels that it writes.
#pragma once

#include <string>

#include "app/options.h"
#include <lepus/output_values.h>

namespace lepus::app {

struct OutputOptions {
  std::string type = "float32", range;

  void describe(OptionTable& table);
  OutputValues values() const;  // Error(usage) where they contradict each other
};

}  // namespace lepus::app

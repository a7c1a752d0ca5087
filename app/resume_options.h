// SPDX-License-Identifier: Apache-2.0
// Options of every command that goes on with an unfinished run of its output (docs/restart.md).
#pragma once

#include "app/options.h"

namespace lepus::app {

struct ResumeOptions {
  bool resume = false, restart = false;

  void describe(OptionTable& table);
};

}  // namespace lepus::app

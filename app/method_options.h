// SPDX-License-Identifier: Apache-2.0
// How a volume is made from line integrals: the options that go before [method] of the scan file.
#pragma once

#include <string>

#include "app/options.h"
#include <lepus/method.h>

namespace lepus::app {

struct MethodArguments {
  void describe(OptionTable& table);
  MethodChoices choices() const;  // Error(usage) for what is no number and no time

private:
  MethodChoices choices_;
  std::string strength_, save_every_;  // as typed
};

}  // namespace lepus::app

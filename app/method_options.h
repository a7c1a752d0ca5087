// SPDX-License-Identifier: Apache-2.0
// How a volume is made from line integrals: the options that go before [method] of the scan file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/options.h"
#include "scan/scan.h"

namespace lepus::app {

struct MethodArguments {
  std::string method, strength, start, weights, model, save_every;
  std::optional<std::int64_t> iterations, subsets;
  bool resume = false, restart = false;  // options of the command (app/resume_options.h)

  void describe(OptionTable& table);
  // Into scan.method, and into the resolved scan file that the volume keeps. Throws Error(usage) where the method does
  // not know them, unless several are to be compared.
  void apply(Scan& scan, bool several) const;

private:
  void refuse_states() const;
};

}  // namespace lepus::app

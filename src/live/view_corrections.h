// SPDX-License-Identifier: Apache-2.0
// The [[correct]] chain of a scan as far as it can be done to one view alone: each view is then a scan of its own.
// What needs other views (rings, hot pixels, lag, zingers, anything fitted to the scan) is left out and said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scan/scan.h"

namespace lepus {

struct ViewCorrections {
  std::vector<CorrectionSpec> chain;  // in the order of the scan file
  struct LeftOut {
    std::string kind, why;
    int line = 0;
  };
  std::vector<LeftOut> left_out;
};
ViewCorrections corrections_of_views(const Scan& scan);

// The same chain for one of so many selected views.
std::vector<CorrectionSpec> chain_of_view(std::vector<CorrectionSpec> chain, std::int64_t view, std::int64_t views);

// A scan of one view, the first, whose frame is in `file`.
Scan scan_of_one_view(const Scan& scan, const std::vector<CorrectionSpec>& chain, const std::filesystem::path& file);

}  // namespace lepus

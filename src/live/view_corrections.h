// SPDX-License-Identifier: Apache-2.0
// The [[correct]] chain of a scan as far as it can be done to one view alone: each view is then a scan of its own.
// What needs other views (rings, hot pixels, lag, zingers, anything fitted to the scan) is left out and said.
#pragma once

#include <cstdint>
#include <map>
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
  std::map<std::size_t, std::vector<double>> doses;  // of all views, by the place of their step in the chain
};
ViewCorrections corrections_of_views(const Scan& scan);  // Error(input) where there is not one dose for each view

// The same scan without the other views; doses stay with theirs.
Scan scan_of_views(const Scan& scan, const std::vector<std::int64_t>& views);

// The chain of one of the selected views.
std::vector<CorrectionSpec> chain_of_view(const ViewCorrections& corrections, std::int64_t view);

// A scan of one view, the first, whose frame is in `file`.
Scan scan_of_one_view(const Scan& scan, const ViewCorrections& corrections, const std::filesystem::path& file);

}  // namespace lepus

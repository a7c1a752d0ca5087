// SPDX-License-Identifier: Apache-2.0
// What a scan is, for people (`lepus info`) and for programs (`lepus info --json`).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scan/scan.h"

namespace lepus {

// Pairs of a name and a text: {"frames", "720 of 1248 x 960 pixels, uint16 (1.6 GiB)"}.
std::vector<std::pair<std::string, std::string>> describe(const Scan& scan);
// The same as aligned lines; warnings come last.
std::string describe_text(const Scan& scan);
// Numbers with their units in the names: {"views": {"count": 720, ...}, "volume": {"voxel_mm": [...], ...}, ...}.
nlohmann::json describe_json(const Scan& scan);

}  // namespace lepus

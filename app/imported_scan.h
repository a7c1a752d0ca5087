// SPDX-License-Identifier: Apache-2.0
// Scans that commands take as a scan file, as a scanner's folder or as its header.
#pragma once

#include <string>

#include "scan/scan.h"

namespace lepus::app {

Scan read_scan_argument(const std::string& place);

}  // namespace lepus::app

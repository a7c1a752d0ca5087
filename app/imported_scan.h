// SPDX-License-Identifier: Apache-2.0
// Scans that commands take as a scan file, as a scanner's folder or as its header.
#pragma once

#include <string>

#include "app/command.h"
#include "import/import_scan.h"

namespace lepus::app {

Scan read_scan_argument(const std::string& place);

// lepus info of a folder or header: every field, what becomes of it, and the scan that follows.
int imported_info(const std::string& place, Session& session);

}  // namespace lepus::app

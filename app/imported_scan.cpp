// SPDX-License-Identifier: Apache-2.0
#include "app/imported_scan.h"

#include "import/import_scan.h"

namespace lepus::app {

Scan read_scan_argument(const std::string& place) { return read_scan_at(place); }

}  // namespace lepus::app

// SPDX-License-Identifier: Apache-2.0
// Scans that calls take as a scan file, as a scanner's folder or as its header.
#pragma once

#include "import/import_scan.h"
#include "scan/scan.h"

namespace lepus {

inline Scan read_scan_argument(const std::filesystem::path& place) {
  return is_importable(place) ? read_imported(place) : read_scan(place);
}

}  // namespace lepus

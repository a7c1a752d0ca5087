// SPDX-License-Identifier: Apache-2.0
// Folders of no known scanner: series of frames, flats and darks by their names.
#pragma once

#include "import/import_scan.h"

namespace lepus {

// What lies in a folder, in a sentence: "90 files scan_*.tif, 64 x 64 pixels, uint16; 3 other files (.txt, .log)".
std::string describe_folder(const std::filesystem::path& folder);

// Throws Error(input) where there are no frames or several series that may be them, Error(usage) where numbers are
// missing.
ImportedScan import_plain_frames(const std::filesystem::path& folder, const GivenNumbers& given);

}  // namespace lepus

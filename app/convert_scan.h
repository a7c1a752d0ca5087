// SPDX-License-Identifier: Apache-2.0
// A scan in another form: the same frames, flats and darks in other files, and a scan file that names them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/command.h"

namespace lepus::app {

struct ScanForm {
  std::string frames = "tiff";  // tiff (a file per image), stack, hdf5, raw
  bool sinograms = false;       // images are sinograms (views x columns), one per detector row
};

struct ConvertedScan {
  std::filesystem::path scan_file;
  std::int64_t views = 0, columns = 0, rows = 0;
};

// Writes beside `folder` and renames at the end; what an error leaves is gone on with (docs/restart.md), unless
// `restart` throws it away.
ConvertedScan convert_scan(const std::filesystem::path& scan_file, const std::filesystem::path& folder,
                           const ScanForm& form, bool restart, Session& session);

}  // namespace lepus::app

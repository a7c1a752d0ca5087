// SPDX-License-Identifier: Apache-2.0
// Folders as scanners write them -> scan files. One Scanner per format recognises its headers and reads them;
// scanners.cpp has the table. docs/scanners/ says of each which fields it takes and what becomes of them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "import/header_fields.h"
#include "import/scan_file_text.h"

namespace lepus {

struct ImportedScan {
  std::string scanner;                // "Nikon X-Tek"
  std::filesystem::path header;       // the file that describes the scan
  std::vector<HeaderField> fields;    // all of them, in the order of the file
  ScanFileText text;                  // what will be the scan file
  std::vector<std::string> warnings;  // what the header does not say, or what looks wrong
};

class Scanner {
public:
  virtual ~Scanner() = default;
  virtual std::string_view name() const = 0;   // "nikon", as in `lepus simulate --format`
  virtual std::string_view title() const = 0;  // "Nikon X-Tek (.xtekct)"
  // Those of the files that are headers of scans, one for each scan, by their content; none: another scanner's folder.
  virtual std::vector<std::filesystem::path> headers(const std::vector<std::filesystem::path>& files) const = 0;
  // Throws Error(input) where frames are missing or the header contradicts them or itself.
  virtual ImportedScan read(const std::filesystem::path& header) const = 0;
};

const std::vector<const Scanner*>& scanners();

const Scanner& nikon_scanner();

}  // namespace lepus

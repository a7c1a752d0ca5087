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
#include <lepus/import.h>

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
  // `header` is named with its folder. The caller sets the keys of the given numbers; what else is made of them, such
  // as a shift that the header counts in pixels, is the reader's. Throws Error(input) where frames are missing or the
  // header contradicts them or itself.
  virtual ImportedScan read(const std::filesystem::path& header, const GivenNumbers& given) const = 0;
};

const std::vector<const Scanner*>& scanners();

// What several readers say: which way a scan turns when its vendor does not document it.
inline constexpr const char* unknown_direction =
    "the direction of rotation is not documented for this header: where lepus finds the scan mirrored, or the volume "
    "is "
    "blurred, change direction in the scan file";

const Scanner& nikon_scanner();
const Scanner& skyscan_scanner();
const Scanner& phoenix_scanner();
const Scanner& yxlon_scanner();
const Scanner& diondo_scanner();
const Scanner& northstar_scanner();
const Scanner& rtk_scanner();
const Scanner& zeiss_scanner();
const Scanner& nxtomo_scanner();
const Scanner& dxchange_scanner();
const Scanner& varian_scanner();
const Scanner& elekta_scanner();
const Scanner& edf_scanner();
const Scanner& xrad_scanner();
const Scanner& iba_scanner();
const Scanner& sinograms_scanner();

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// A folder or a header -> a scan. What no scanner recognises is taken as plain frames, with the few numbers that only
// the user knows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/scanner.h"
#include "scan/scan.h"

namespace lepus {

struct FoundHeader {
  const Scanner* scanner;
  std::filesystem::path file;
};
// The headers in a folder, or the one that `place` is. Empty where no scanner recognises anything.
std::vector<FoundHeader> find_headers(const std::filesystem::path& place);

// What must be asked for so that plain frames can be reconstructed: "--pixel", ... in the order of the questions.
std::vector<std::string> missing_numbers(const GivenNumbers& given);

// Throws Error(input) where several scans lie in the folder, Error(usage) that says what is there and which numbers are
// missing where it is not recognised.
ImportedScan import_place(const std::filesystem::path& place, const GivenNumbers& given);

// The scan file as it would stand in `folder`: heading, warnings, values with their origins.
std::string scan_file_text(const ImportedScan& imported, const std::filesystem::path& folder);

// The scan that a folder or a header holds: that of scan.toml where the folder has one, else imported. Its warnings
// come first among those of the scan.
Scan read_imported(const std::filesystem::path& place);

// A scan file, or what read_imported reads.
Scan read_scan_at(const std::filesystem::path& place);

}  // namespace lepus

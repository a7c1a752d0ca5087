// SPDX-License-Identifier: Apache-2.0
// The frames of a scan on disk: files that differ in a number. A frame that is missing or too many is named, never
// passed over: it would turn every later view.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lepus {

struct NumberedFile {
  std::int64_t number = 0;
  std::filesystem::path file;
};

// Files of a folder named `prefix`, digits, and one of these endings (".tif", in any case), by their number.
std::vector<NumberedFile> numbered_files(const std::filesystem::path& folder, const std::string& prefix,
                                         const std::vector<std::string>& endings);

// What a header says of its frames, for messages: "Projections = 90", "scan.xtekct:12".
struct ExpectedFrames {
  std::int64_t count = 0;
  std::string field, where;
};

// Exactly as many successive numbers as expected. Error(input) where a number is missing, used twice, or where there
// are more or fewer files.
std::vector<std::filesystem::path> whole_series(const std::vector<NumberedFile>& files, const ExpectedFrames& expected,
                                                const std::filesystem::path& looked_for);

// What names without their number and ending there are among these files, with how many each: "scan_*.tif".
struct NamedSeries {
  std::string prefix, ending;
  std::vector<NumberedFile> files;
};
std::vector<NamedSeries> named_series(const std::vector<std::filesystem::path>& files);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Folders as scanners write them -> scan files. docs/scanners.md lists the scanners.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/export.h>
#include <lepus/header_field.h>

namespace lepus {

// What the user says; it goes before what a header says.
struct GivenNumbers {
  std::optional<double> pixel_mm = {}, source_axis_mm = {}, source_detector_mm = {}, arc_deg = {};
  bool parallel = false;
};

struct ImportOptions {
  GivenNumbers given = {};
  std::filesystem::path scan_file = {};  // to write; "": scan.toml in the folder of the scan
  // Asked where a folder is of no known scanner and numbers are missing that only people know. Returns the answer as it
  // was typed; none: there will be no answer. Empty: nobody is asked, and that they are missing is an error.
  std::function<std::optional<std::string>(const std::string& question)> ask = {};
  Call call = {};
};

struct ImportReport {
  std::string scanner;              // "Nikon X-Tek"
  std::filesystem::path header;     // the file that describes the scan
  std::vector<HeaderField> fields;  // of it, all, in the order of the file
  std::filesystem::path scan_file;  // that was written
  std::string scan_text;            // what the scan is, in lines for people
  std::string scan_json;            // the same for programs
};

// place: the folder of a scan, or its header. Every value of the scan file has a comment that says where it came from;
// the frames stay where they are. Throws Error(input) where frames are missing, several scans lie in the folder or a
// header contradicts its files, Error(usage) where numbers are missing.
LEPUS_API ImportReport import_scan(const std::filesystem::path& place, const ImportOptions& options = {});

}  // namespace lepus

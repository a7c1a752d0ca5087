// SPDX-License-Identifier: Apache-2.0
// A scan file is read before its frames are there. What it says of them is checked first; once one frame is whole it
// stands for all others, which have its size and type, and the scan is read as always.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/frames.h"
#include "scan/document.h"
#include "scan/scan.h"

namespace lepus {

class ScanAhead {
public:
  // Throws Error(input) as read_scan does, and Error(unsupported) for what is only known when all views are there: an
  // automatic centre, I0 from an air region, flats taken in between, frames stored as sinograms.
  explicit ScanAhead(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }
  std::filesystem::path folder() const { return document_.folder(); }
  std::vector<std::string> frame_names() const;
  // How many frames there will be: as given, else as many as the scan file has names or angles. Throws Error(usage).
  std::int64_t frames(std::optional<std::int64_t> given) const;
  // One frame's file as the readers want it.
  FrameFiles as_frame(const std::filesystem::path& file) const;
  // Whether a file of this name would be taken for one of the scan's images.
  bool takes(const std::filesystem::path& file) const;
  // Which files of flats and darks are still missing, for people; "" where there are some of each that is named.
  std::string missing_flats() const;

  // The whole scan. one_frame is a file that is whole; scan.frames.files are `frames` names of it.
  Scan read(const std::filesystem::path& one_frame, std::int64_t frames) const;

private:
  std::filesystem::path file_;
  std::string text_;
  ScanDocument document_;
};

// The value of a key in TOML text exchanged for another, in as many lines.
std::string with_value(const std::string& toml, const std::string& section, const std::string& key,
                       const std::string& value);
// The text of it.
std::string value_text(const std::string& toml, const std::string& section, const std::string& key);

}  // namespace lepus

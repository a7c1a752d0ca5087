// SPDX-License-Identifier: Apache-2.0
// Numbers of one section of a scan file, changed in its text: comments, order, spaces and everything else stay.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/output_lock.h"

namespace lepus {

using NumbersOfKeys = std::vector<std::pair<std::string, double>>;

// The text with these keys in [section]: values that are there are replaced, others are added below the section's
// head. Throws Error(usage) where the section is not written as a table of its own; `where` names the file.
std::string with_numbers(const std::string& text, const std::string& section, const NumbersOfKeys& keys,
                         const std::string& where);

// Locks a scan file from before the work until the found keys are in it, so that two runs do not overwrite each other;
// somebody's change in between is an error, not lost.
class ScanFileEdit {
public:
  explicit ScanFileEdit(std::filesystem::path file);
  void write(const std::string& section, const NumbersOfKeys& keys) const;
  const std::filesystem::path& file() const { return file_; }

private:
  std::filesystem::path file_;
  OutputLock lock_;
  std::string before_;
};

}  // namespace lepus

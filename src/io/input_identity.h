// SPDX-License-Identifier: Apache-2.0
// Whether inputs are still those that an unfinished run read: by the names, sizes and times of their files, not by what
// is in them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/journal.h"
#include "io/frames.h"

namespace lepus {

struct InputIdentity {
  std::string checksum;    // of names, sizes and times, 16 hexadecimal digits
  std::int64_t files = 0;  // how many there are
};
// Names are relative to the folder, which may be moved as a whole. Throws Error(input) where a file is not there.
InputIdentity identity_of_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& folder);

// The files of a scan's images, and those behind them: the data of a header, what an HDF5 file refers to.
std::vector<std::filesystem::path> files_of_input(const FrameFiles& images);
// The files of a volume as open_volume takes it: a file, a header with its data, a folder, a pattern of names, a part
// of one of these.
std::vector<std::filesystem::path> files_of_input(const std::filesystem::path& volume);
JournalFact volume_fact(const std::filesystem::path& volume);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// What the names and times of a scan's files tell: a file that was lost, or one that is no frame, shifts every later
// view to a wrong angle without anybody noticing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lepus {

struct FrameNames {
  std::vector<std::size_t> unlike;   // files whose names differ from most others in more than a number
  std::vector<std::size_t> copies;   // those of them that hold the name of another frame: "0003 (copy).tif"
  std::string usual;                 // a name that is like most others
  std::vector<std::string> missing;  // files that the numbering lacks, the first hundred: "frames/0007.tif"
  bool nearly_whole = false;         // one file is missing, or a tenth of all at most
  std::optional<std::pair<std::size_t, std::size_t>> same_number;  // "1.tif" and "0001.tif"
  std::string mixed;           // why the order of the names may not be that of the views; "" where it is
  std::string previous, next;  // the files before the first and after the last of the numbering, "" if unknown
};

// Of the files in their order. Nothing is found in fewer than three, and the same file may be listed again and again.
FrameNames look_at_names(const std::vector<std::filesystem::path>& files);

// Numbers that other files have, such as flats taken between frames, are not missing.
void leave_out(FrameNames& names, const std::vector<std::filesystem::path>& files);

// Files written long after the series was complete or long before it began, where all the others were written in their
// order; none where the times say nothing (copies that were all made at one time, or in another order).
std::vector<std::size_t> out_of_time(const std::vector<double>& written_s);
std::vector<std::size_t> out_of_time(const std::vector<std::filesystem::path>& files);

// Why there are fewer or more frames than expected, as far as the names tell: "frames/0007.tif is missing".
std::string explain_count(const FrameNames& names, const std::vector<std::filesystem::path>& files,
                          std::int64_t expected);

}  // namespace lepus

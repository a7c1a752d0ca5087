// SPDX-License-Identifier: Apache-2.0
// Which file is which frame of a scan that is still being written. In: frames.files of the scan file (a list of names,
// a pattern or a folder) and how many frames there will be. Out: the frames that are there now. A pattern's files are
// told apart by the number in their names, so that a file that comes late, or never, shifts no other view.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lepus {

// "img_0007.tif" as "img_", 7, ".tif", four digits; none where the name has no number.
struct FrameNumber {
  std::string before, after;
  std::int64_t number = 0;
  std::size_t digits = 0;
};
std::optional<FrameNumber> frame_number(const std::string& file_name);

class FrameSeries {
public:
  // names: frames.files, relative to `folder`. Throws Error(unsupported) for what cannot be watched file by file.
  FrameSeries(const std::filesystem::path& folder, const std::vector<std::string>& names, std::int64_t frames,
              std::optional<std::int64_t> first_number);

  std::int64_t frames() const { return frames_; }
  const std::filesystem::path& folder() const { return folder_; }  // that the files come into

  // The frames whose files exist, however much is in them, in order. Throws Error(input) where a file does not fit the
  // series: another name, a number before its first or after its last. A series that seemed to begin with 1 begins with
  // 0 when such a file comes late: first_number() changes, and all frames are others than before.
  std::vector<std::pair<std::int64_t, std::filesystem::path>> present();
  // The name that a frame's file has or will have, for people.
  std::string name(std::int64_t frame) const;
  // In the name of frame 0; none: not known yet.
  std::optional<std::int64_t> first_number() const { return first_number_; }
  bool first_number_is_a_guess() const { return guessed_; }
  // What is there but cannot be placed yet, for people; "" where everything can.
  const std::string& unplaced() const { return unplaced_; }

private:
  void place_first(const std::vector<std::pair<std::int64_t, std::filesystem::path>>& numbered);

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> listed_;  // where the scan file names every file
  std::string pattern_;                        // of file names, where it does not
  bool any_tiff_ = false;                      // a folder: its TIFF files
  std::int64_t frames_;
  std::optional<std::int64_t> first_number_;
  bool guessed_ = false;              // 1, because 0 has not come
  std::optional<FrameNumber> usual_;  // how names look, once one is there
  std::string unplaced_;
};

// How many files the names of frames.files are; 0 where one of them is a pattern or a folder.
std::int64_t listed_files(const std::filesystem::path& folder, const std::vector<std::string>& names);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Frames as they come in: which files are there, look finished and were not taken yet. Looking is the base (it works
// on network folders); where the system tells of writers, a file is taken when it is closed, else when it has not
// changed for a while. A file that cannot be read yet is tried again.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/folder_events.h"
#include "live/frame_series.h"

namespace lepus {

struct Arrived {
  std::int64_t frame = 0;
  std::filesystem::path file;
};

class Arrivals {
public:
  // settle_s: for how long size and time of a file must stay the same where nobody tells when it was closed.
  Arrivals(FrameSeries& series, double settle_s) : series_(series), settle_s_(settle_s) {}

  // What is worth reading now, at most `most`, in order of frames. Every one is to be answered by one of the next two.
  std::vector<Arrived> look(std::int64_t most);
  void taken(std::int64_t frame);
  void not_readable(std::int64_t frame, const std::string& why);  // yet
  // All are to come again.
  void forget_taken();
  // Whether frames got other numbers since this was last asked (FrameSeries): all are to come again, then.
  bool take_renumbered() { return std::exchange(renumbered_, false); }

  // Until something may have changed; at most so long.
  void wait(double seconds);
  double since_last_change_s() const;  // since a file appeared or grew, or the beginning

  // Of a file that is there but could not be read so far; "" of all others.
  std::string trouble(std::int64_t frame) const;

private:
  using Clock = std::chrono::steady_clock;
  struct Candidate {
    std::filesystem::path file;
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type written;
    Clock::time_point unchanged_since, tried;
    bool was_tried = false, was_taken = false;
    std::string trouble;
  };
  bool changed(Candidate& candidate, const std::filesystem::path& file) const;
  bool worth_reading(const Candidate& candidate);

  FrameSeries& series_;
  double settle_s_;
  double look_s_ = 0;  // what looking costs here
  std::optional<std::int64_t> first_number_;
  bool renumbered_ = false;
  FolderEvents events_;
  Clock::time_point last_change_ = Clock::now();
  std::map<std::int64_t, Candidate> candidates_;  // by frame
};

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "live/arrivals.h"

#include <algorithm>
#include <thread>

namespace lepus {
namespace {

namespace fs = std::filesystem;

constexpr double try_again_s = 0.5;  // a file that could not be read and has not changed since
constexpr double usual_poll_s = 0.05, longest_poll_s = 2;

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

bool Arrivals::changed(Candidate& candidate, const fs::path& file) const {
  std::error_code code;
  const std::uintmax_t bytes = fs::file_size(file, code);
  const fs::file_time_type written = fs::last_write_time(file, code);
  if (code) return false;  // gone again, perhaps renamed
  const bool same = candidate.file == file && candidate.bytes == bytes && candidate.written == written;
  candidate.file = file;
  candidate.bytes = bytes;
  candidate.written = written;
  return !same;
}

bool Arrivals::worth_reading(const Candidate& candidate) {
  if (candidate.bytes == 0) return false;
  const std::string name = candidate.file.filename().string();
  if (events_.being_written(name)) return false;
  if (!events_.closed(name) && seconds_since(candidate.unchanged_since) < settle_s_) return false;
  return !candidate.was_tried || seconds_since(candidate.tried) >= try_again_s;
}

std::vector<Arrived> Arrivals::look(std::int64_t most) {
  const auto start = Clock::now();
  events_.watch(series_.folder());
  std::vector<Arrived> arrived;
  const auto present = series_.present();
  if (series_.first_number() != first_number_) {
    renumbered_ = first_number_.has_value();
    first_number_ = series_.first_number();
    candidates_.clear();
  }
  for (const auto& [frame, file] : present) {
    Candidate& candidate = candidates_[frame];
    if (candidate.was_taken) continue;
    if (changed(candidate, file)) {
      candidate.unchanged_since = last_change_ = Clock::now();
      candidate.was_tried = false;
    }
    if (static_cast<std::int64_t>(arrived.size()) < most && worth_reading(candidate)) arrived.push_back({frame, file});
  }
  look_s_ = seconds_since(start);
  return arrived;
}

void Arrivals::taken(std::int64_t frame) {
  Candidate& candidate = candidates_[frame];
  candidate.was_taken = true;
  candidate.trouble.clear();
}

void Arrivals::not_readable(std::int64_t frame, const std::string& why) {
  Candidate& candidate = candidates_[frame];
  candidate.trouble = why;
  candidate.was_tried = true;
  candidate.tried = Clock::now();
}

void Arrivals::forget_taken() {
  for (auto& [frame, candidate] : candidates_) candidate.was_taken = false;
}

// A folder that takes long to list (thousands of files on a network) is listed a tenth of the time at most, or half of
// it where a writer makes itself heard without end.
void Arrivals::wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(std::min(seconds, std::clamp(look_s_, 0.001, 1.0))));
  events_.wait(std::min(seconds, std::clamp(10 * look_s_, usual_poll_s, longest_poll_s)));
}

double Arrivals::since_last_change_s() const { return seconds_since(last_change_); }

std::string Arrivals::trouble(std::int64_t frame) const {
  const auto found = candidates_.find(frame);
  return found == candidates_.end() ? std::string() : found->second.trouble;
}

}  // namespace lepus

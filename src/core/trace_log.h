// SPDX-License-Identifier: Apache-2.0
// When what was done, for people who look for the time that is lost: spans on queues, written in Chrome's trace format
// (chrome://tracing, ui.perfetto.dev), one row for each rank and queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace lepus {

class TraceLog {
public:
  using Clock = std::chrono::steady_clock;  // of a rank; it does not jump

  // Runs the work and keeps when. Null: runs it.
  template <class Work>
  static auto around(TraceLog* log, const char* what, const std::string& queue, const std::string& about, Work work) {
    struct Span {
      TraceLog* log;
      const char* what;
      const std::string &queue, &about;
      Clock::time_point begin = Clock::now();
      ~Span() {
        if (log) log->add(what, queue, about, begin, Clock::now());
      }
    } const span{log, what, queue, about};
    return work();
  }
  void add(const char* what, const std::string& queue, const std::string& about, Clock::time_point begin,
           Clock::time_point end);

  // Its events as a JSON array's elements, with commas between them: those of ranks can be joined.
  std::string events(int rank, const std::string& node) const;

private:
  struct Event {
    std::string what, queue, about;
    std::int64_t begin_us, length_us;
  };
  Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

// The file that the viewers open.
std::string trace_file(const std::vector<std::string>& events_of_ranks);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "core/trace_log.h"

#include <map>

#include "core/format.h"

namespace lepus {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string name_event(const char* kind, int rank, int queue, const std::string& name) {
  return format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", kind, rank, queue, quoted(name));
}

}  // namespace

void TraceLog::add(const char* what, const std::string& queue, const std::string& about, Clock::time_point begin,
                   Clock::time_point end) {
  const auto microseconds = [](Clock::duration d) {
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  };
  const std::lock_guard lock(mutex_);
  events_.push_back({what, queue, about, microseconds(begin - start_), microseconds(end - begin)});
}

std::string TraceLog::events(int rank, const std::string& node) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, int> queues;
  std::string text = name_event("process_name", rank, 0, format("rank {} {}", rank, node));
  for (const Event& event : events_) {
    const auto [queue, first] = queues.emplace(event.queue, static_cast<int>(queues.size()));
    if (first) text += ",\n" + name_event("thread_name", rank, queue->second, event.queue);
    text += format(R"(,{}{{"ph":"X","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{"of":{}}}}})", "\n",
                   quoted(event.what), rank, queue->second, event.begin_us, event.length_us, quoted(event.about));
  }
  return text;
}

std::string trace_file(const std::vector<std::string>& events_of_ranks) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events_of_ranks.size(); ++i) text += (i > 0 ? ",\n" : "") + events_of_ranks[i];
  return text + "\n]}\n";
}

}  // namespace lepus

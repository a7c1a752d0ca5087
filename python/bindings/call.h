// SPDX-License-Identifier: Apache-2.0
// A long call from Python: the work runs on a thread of its own while the calling one, which has given up the
// interpreter's lock, looks after Ctrl-C and hands on progress, notes and warnings. So callbacks run in the caller's
// thread, and an interrupted call ends by the library's own way out.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "core/context.h"

namespace lepus::python {

namespace py = pybind11;

// Keeps what a call tells until the caller's thread asks for it.
class KeptProgress final : public Progress {
public:
  void begin(std::string_view stage, std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  void note(const std::string& message) override;
  void warning(const std::string& message) override;

  // With the interpreter's lock: callback(stage, done, steps), unless it is None; lepus._messages gets the rest.
  void deliver(const py::object& callback);

private:
  struct Stage {
    std::string name;
    std::int64_t done = 0, steps = 0;
    bool changed = true;
  };
  struct Message {
    bool warning;
    std::string text;
  };
  std::mutex mutex_;
  std::vector<Stage> stages_;
  std::vector<Message> messages_;
};

struct CallTools {
  CancelFlag& cancel;
  Progress& progress;
};

// Throws what the work throws; KeyboardInterrupt, or what the callback raised, after the work has stopped.
void run_call(const py::object& progress, const std::function<void(const CallTools&)>& work);
// The same with threads for the work; 0: one per hardware thread.
void run_call(const py::object& progress, int threads, const std::function<void(Context&)>& work);

}  // namespace lepus::python

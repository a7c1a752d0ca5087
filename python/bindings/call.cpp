// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/call.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>
#include <utility>

namespace lepus::python {

void KeptProgress::begin(std::string_view stage, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  stages_.push_back({std::string(stage), 0, steps});
}

void KeptProgress::advance(std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  if (stages_.empty()) return;
  stages_.back().done += steps;
  stages_.back().changed = true;
}

void KeptProgress::note(const std::string& message) {
  const std::lock_guard lock(mutex_);
  messages_.push_back({false, message});
}

void KeptProgress::warning(const std::string& message) {
  const std::lock_guard lock(mutex_);
  messages_.push_back({true, message});
}

void KeptProgress::deliver(const py::object& callback) {
  std::vector<Stage> stages;
  std::vector<Message> messages;
  {
    const std::lock_guard lock(mutex_);
    for (const Stage& stage : stages_)
      if (stage.changed) stages.push_back(stage);
    if (stages_.size() > 1) stages_.erase(stages_.begin(), stages_.end() - 1);  // the last one may go on
    for (Stage& stage : stages_) stage.changed = false;
    messages = std::exchange(messages_, {});
  }
  if (!callback.is_none())
    for (const Stage& stage : stages) callback(stage.name, stage.done, stage.steps);
  if (messages.empty()) return;
  const py::module_ hand_on = py::module_::import("lepus._messages");
  for (const Message& message : messages) hand_on.attr(message.warning ? "warn" : "note")(message.text);
}

void run_call(const py::object& progress, const std::function<void(const CallTools&)>& work) {
  using namespace std::chrono_literals;
  CancelFlag cancel;
  KeptProgress kept;
  std::exception_ptr failed, interruption;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::thread worker([&] {
    try {
      work({cancel, kept});
    } catch (...) {
      failed = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    finished.notify_one();
  });
  {
    const py::gil_scoped_release others_may_run;
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, 50ms, [&] { return done; })) {
      lock.unlock();
      if (!interruption) {
        const py::gil_scoped_acquire locked;
        try {
          if (PyErr_CheckSignals() != 0) throw py::error_already_set();
          kept.deliver(progress);
        } catch (...) {
          interruption = std::current_exception();
          cancel.cancel();
        }
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (interruption) std::rethrow_exception(interruption);
  kept.deliver(progress);
  if (failed) std::rethrow_exception(failed);
}

void run_call(const py::object& progress, int threads, const std::function<void(Context&)>& work) {
  run_call(progress, [&](const CallTools& tools) {
    ThreadPool pool(threads, &tools.cancel);
    Context context{pool, tools.cancel, tools.progress};
    work(context);
  });
}

}  // namespace lepus::python

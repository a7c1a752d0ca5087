// SPDX-License-Identifier: Apache-2.0
#include "view/run_view.h"

#include <utility>

#include "core/input_file.h"
#include "core/json.h"
#include "core/output_lock.h"
#include "iterative/saved_states.h"
#include <lepus/error.h>

namespace lepus::view {
namespace fs = std::filesystem;

namespace {

std::int64_t slices_in(const SliceRanges& ranges) {
  std::int64_t slices = 0;
  for (const auto& [z0, z1] : ranges) slices += z1 - z0;
  return slices;
}

// What every run has; slices and what is finished of them where they are made one after the other.
nlohmann::json run_json(const fs::path& output, const std::string& state, std::int64_t slices) {
  return {{"output", output.filename().string()}, {"state", state},          {"slices", slices},
          {"finished", nlohmann::json::array()},  {"seconds_left", nullptr}, {"rate", nullptr},
          {"residual", nlohmann::json::array()}};
}

void add_iterations(const StateHeader& state, nlohmann::json& run) {
  run["iterations"] = state.iterations;
  run["iterations_done"] = state.done.iterations;
  run["residual"] = state.done.residuals;
  if (!(state.done.seconds > 0) || state.done.iterations == 0) return;
  const double rate = static_cast<double>(state.done.iterations) / state.done.seconds;
  run["rate"] = rate;
  run["seconds_left"] = static_cast<double>(state.iterations - state.done.iterations) / rate;
}

}  // namespace

nlohmann::json live_run(const fs::path& status, const fs::path& output) {
  nlohmann::json said;
  try {
    said = json_or_discarded(read_text_file(status, 1 << 20));
  } catch (const Error&) {
    return nullptr;
  }
  if (!said.is_object() || !said.contains("state") || !said["state"].is_string() || !said.contains("views_in"))
    return nullptr;
  const std::string state = said["state"].get<std::string>();
  const char* const word = state == "waiting" || state == "running" ? "running"
                           : state == "finished"                    ? "finished"
                                                                    : "stopped";
  nlohmann::json object = run_json(output, word, 0);
  object.update({{"views", said.value("views", nlohmann::json())},
                 {"views_in", said["views_in"]},
                 {"waiting_for", said.value("waiting_for", nlohmann::json())}});
  return object;
}

nlohmann::json iterative_run(const fs::path& output) {
  const auto state = newest_state(output);
  if (!state) return nullptr;
  nlohmann::json object = run_json(output, holder_of_output(output).empty() ? "stopped" : "running", 0);
  add_iterations(*state, object);
  return object;
}

RunView::RunView(fs::path output, const fs::path& partial)
    : output_(std::move(output)), partial_(partial), volume_(open_running_volume(partial)) {
  look();
}

std::string RunView::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

bool RunView::look() {
  const std::scoped_lock lock(mutex_);
  if (state_ == "finished") return false;
  std::error_code code;
  if (!fs::exists(partial_, code)) {
    const std::string before = std::exchange(state_, fs::exists(output_, code) ? "finished" : "stopped");
    if (state_ == "finished") finished_ = {{0, volume_->grid().nz}};
    return state_ != before;
  }
  SliceRanges now = volume_->written();
  const auto method = newest_state(output_);
  const std::int64_t iterations = method ? method->done.iterations : 0;
  const bool changed = now != finished_ || iterations != iterations_;
  finished_ = std::move(now);
  iterations_ = iterations;
  if (changed || history_.empty()) history_.emplace_back(Clock::now(), slices_in(finished_));
  if (history_.size() > 32) history_.pop_front();
  return changed;
}

nlohmann::json RunView::json() const {
  const std::scoped_lock lock(mutex_);
  const std::int64_t slices = volume_->grid().nz;
  nlohmann::json object = run_json(output_, state_, slices);
  for (const auto& [z0, z1] : finished_) object["finished"].push_back({z0, z1});
  if (const auto method = newest_state(output_)) {
    add_iterations(*method, object);
    return object;
  }
  if (state_ != "running" || history_.size() < 2) return object;
  const double seconds = std::chrono::duration<double>(Clock::now() - history_.front().first).count();
  const auto since = static_cast<double>(history_.back().second - history_.front().second);
  if (since > 0 && seconds > 0) {
    object["rate"] = since / seconds;
    object["seconds_left"] = static_cast<double>(slices - slices_in(finished_)) * seconds / since;
  }
  return object;
}

}  // namespace lepus::view

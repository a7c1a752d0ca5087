// SPDX-License-Identifier: Apache-2.0
#include "view/run_view.h"

#include <nlohmann/json.hpp>

#include "core/input_file.h"
#include <lepus/error.h>

namespace lepus::view {
namespace fs = std::filesystem;

namespace {

std::int64_t slices_in(const SliceRanges& ranges) {
  std::int64_t slices = 0;
  for (const auto& [z0, z1] : ranges) slices += z1 - z0;
  return slices;
}

}  // namespace

nlohmann::json live_run(const fs::path& status, const fs::path& output) {
  nlohmann::json said;
  try {
    said = nlohmann::json::parse(read_text_file(status, 1 << 20), nullptr, false);
  } catch (const Error&) {
    return nullptr;
  }
  if (!said.is_object() || !said.contains("state") || !said["state"].is_string() || !said.contains("views_in"))
    return nullptr;
  const std::string state = said["state"].get<std::string>();
  return {{"output", output.filename().string()},
          {"state", state == "waiting" || state == "running" ? "running"
                    : state == "finished"                    ? "finished"
                                                             : "stopped"},
          {"slices", 0},
          {"finished", nlohmann::json::array()},
          {"seconds_left", nullptr},
          {"rate", nullptr},
          {"residual", nlohmann::json::array()},
          {"views", said.value("views", nlohmann::json())},
          {"views_in", said["views_in"]},
          {"waiting_for", said.value("waiting_for", nlohmann::json())}};
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
  if (state_ != "running") return false;
  std::error_code code;
  if (!fs::exists(partial_, code)) {
    state_ = fs::exists(output_, code) ? "finished" : "stopped";
    if (state_ == "finished") finished_ = {{0, volume_->grid().nz}};
    return true;
  }
  SliceRanges now = volume_->written();
  const bool changed = now != finished_;
  finished_ = std::move(now);
  if (changed || history_.empty()) history_.emplace_back(Clock::now(), slices_in(finished_));
  if (history_.size() > 32) history_.pop_front();
  return changed;
}

nlohmann::json RunView::json() const {
  const std::scoped_lock lock(mutex_);
  const std::int64_t slices = volume_->grid().nz;
  nlohmann::json object{{"output", output_.filename().string()}, {"state", state_},         {"slices", slices},
                        {"finished", nlohmann::json::array()},   {"seconds_left", nullptr}, {"rate", nullptr},
                        {"residual", nlohmann::json::array()}};
  for (const auto& [z0, z1] : finished_) object["finished"].push_back({z0, z1});
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

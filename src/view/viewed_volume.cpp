// SPDX-License-Identifier: Apache-2.0
#include "view/viewed_volume.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "io/stack.h"
#include "view/request.h"
#include "view/running_volume.h"

namespace lepus::view {
namespace fs = std::filesystem;

namespace {

fs::path file_behind(const fs::path& volume) {
  struct stat found {};
  if (::stat(volume.c_str(), &found) == 0) return volume;
  const std::string text = volume.string();
  if (const std::size_t dataset = text.rfind(":/"); dataset != std::string::npos) return text.substr(0, dataset);
  if (const std::size_t level = text.rfind('#'); level != std::string::npos) return text.substr(0, level);
  if (find_number(volume)) return volume.has_parent_path() ? volume.parent_path() : fs::path(".");
  return volume;
}

// "v.mha.partial-4711-0a1b2c3d" -> "v.mha"
std::string name_of_output(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find(".partial-"));
}

nlohmann::json numbers_of(const std::array<std::int64_t, 3>& values) { return {values[0], values[1], values[2]}; }
nlohmann::json numbers_of(const Vec3& v) { return {v.x, v.y, v.z}; }

}  // namespace

std::optional<FileIdentity> identity_of(const fs::path& volume) {
  struct stat found {};
  if (::stat(file_behind(volume).c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino),
                      static_cast<std::int64_t>(found.st_size),
                      static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec};
}

ViewedVolume::ViewedVolume(int id, const fs::path& path, std::string role)
    : id_(id), role_(std::move(role)), path_(path), identity_(identity_of(path)), seen_(identity_) {
  opened_ = open_for_viewing(path);
}

fs::path ViewedVolume::path() const {
  const std::scoped_lock lock(mutex_);
  return path_;
}

std::optional<FileIdentity> ViewedVolume::identity() const {
  const std::scoped_lock lock(mutex_);
  return identity_;
}

std::string ViewedVolume::gone() const {
  const std::scoped_lock lock(mutex_);
  return gone_;
}

std::shared_ptr<const OpenedVolume> ViewedVolume::get() const {
  const std::scoped_lock lock(mutex_);
  if (gone_ == "vanished")
    throw Refusal(410, {.what = "the file vanished",
                        .where = path_.string(),
                        .why = "it was there when lepus view opened it",
                        .hint = "put it back, and it is shown again"});
  if (gone_ == "changed")
    throw Refusal(409, {.what = "the file is being changed",
                        .where = path_.string(),
                        .why = why_,
                        .hint = "it is shown again when it is whole"});
  return opened_;
}

bool ViewedVolume::look() {
  const std::scoped_lock lock(mutex_);
  const auto now = identity_of(path_);
  const std::string before = gone_;
  const bool settled = now == seen_;  // since the last look
  seen_ = now;
  if (!now) {
    gone_ = "vanished";
  } else if (now == identity_) {
    gone_.clear();
  } else if (!settled && !is_partial_name(path_)) {  // of a run that is how it should be
    gone_ = "changed";
    why_ = "something writes to it";
  } else {
    try {
      opened_ = open_for_viewing(path_);
      identity_ = now;
      gone_.clear();
      ++changed_;
      pyramid_ = {};
      return true;
    } catch (const Error& error) {
      gone_ = "changed";
      why_ = error.what();
    }
  }
  return gone_ != before;
}

void ViewedVolume::moved_to(const fs::path& path) {
  const std::scoped_lock lock(mutex_);
  path_ = path;
  identity_.reset();  // the next looks open it anew
}

PyramidState ViewedVolume::pyramid() const {
  const std::scoped_lock lock(mutex_);
  return pyramid_;
}

void ViewedVolume::set_pyramid(PyramidState state) {
  const std::scoped_lock lock(mutex_);
  pyramid_ = std::move(state);
}

void ViewedVolume::use_pyramid(const fs::path& folder, const std::shared_ptr<const OpenedVolume>& made_of) {
  const std::scoped_lock lock(mutex_);
  if (opened_ != made_of) return;
  opened_ = with_pyramid(*opened_, folder);
  pyramid_ = opened_->levels.size() > 1 ? PyramidState{"there", "", 1}
                                        : PyramidState{"none", "the levels beside it cannot be used", 0};
}

nlohmann::json ViewedVolume::json() const {
  const std::scoped_lock lock(mutex_);
  const OpenedVolume& v = *opened_;
  nlohmann::json object{{"id", id_},
                        {"name", name_of_output(path_)},
                        {"role", role_},
                        {"size", numbers_of(v.size())},
                        {"step_mm", numbers_of(v.grid.step_mm)},
                        {"origin_mm", numbers_of(v.grid.origin_mm)},
                        {"type", v.type},
                        {"unit", v.unit},
                        {"range", nullptr},
                        {"percentiles", nullptr},
                        {"not_finite", 0.0},
                        {"labels", nullptr},
                        {"hu", nullptr},
                        {"field_of_view", nullptr},
                        {"pyramid", {{"state", pyramid_.state}, {"done", pyramid_.done}, {"why", pyramid_.why}}},
                        {"changed", changed_},
                        {"gone", gone_}};
  if (v.sample.looked_at > 0)
    object["not_finite"] = static_cast<double>(v.sample.not_finite()) / static_cast<double>(v.sample.looked_at);
  if (!v.sample.values.empty()) {
    object["range"] = {v.sample.values.front(), v.sample.values.back()};
    object["percentiles"] = percentiles_json(v.sample);
  }
  if (v.field_of_view_mm) object["field_of_view"] = {{"center_mm", {0, 0}}, {"radius_mm", *v.field_of_view_mm}};
  for (const Level& level : v.levels)
    object["levels"].push_back(
        {{"factor", level.factor}, {"size", numbers_of(level.size())}, {"plain", is_plain(level)}});
  return object;
}

nlohmann::json percentiles_json(const ValueSample& sample) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, percent] : {std::pair{"0.1", 0.1}, {"1", 1.0}, {"50", 50.0}, {"99", 99.0}, {"99.9", 99.9}}) {
    const auto value = sample.percentile(percent);
    object[name] = value ? nlohmann::json(*value) : nlohmann::json();
  }
  return object;
}

}  // namespace lepus::view

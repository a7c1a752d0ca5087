// SPDX-License-Identifier: Apache-2.0
#include "view/viewer.h"

#include <algorithm>
#include <new>

#include "core/format.h"
#include "core/json.h"
#include "core/text.h"
#include "view/volume_requests.h"
#include <lepus/version.h>

namespace lepus::view {
namespace fs = std::filesystem;

namespace {

// "/api/volumes/0/slice" -> "api", "volumes", "0", "slice"
std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    steps.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return steps;
}

// Attenuations, HU (which it turns back into those), and values without a unit, which --water says are attenuations.
bool can_have_water(const std::string& unit) { return unit == "1/mm" || unit == "HU" || unit == "raw"; }

[[noreturn]] void not_there(const std::string& path) {
  throw Refusal(404, {.what = "there is no such thing",
                      .where = shown(path),
                      .why = {},
                      .hint = "docs/view-protocol.md has all requests"});
}

}  // namespace

Viewer::Viewer(const ViewOptions& options, std::int64_t memory_bytes, Context& context)
    : cancel_(context.cancel), options_(options), cache_(memory_bytes / 8 * 3), admission_(memory_bytes / 8 * 3) {
  if (!options.scan.empty()) scan_ = std::make_unique<ScanView>(options.scan, context, memory_bytes);
  std::error_code missing;
  const bool absent = !options.volumes.empty() && !fs::exists(options.volumes.front(), missing);
  awaiting_ = !options.status.empty() ||
              (absent && !partial_of(options.volumes.front()) && !iterative_run(options.volumes.front()).is_null());
  const bool awaited = absent && awaiting_;
  if (awaited && awaited_run().is_null())
    throw Error(ErrorKind::input, {.what = "this is no status of lepus live",
                                   .where = options.status.string(),
                                   .why = "it is missing, or has no state and number of views",
                                   .hint = "give the file that lepus live --status writes"});
  for (const fs::path& path : awaited ? std::vector<fs::path>{} : options.volumes) {
    const auto partial = partial_of(path);
    std::error_code code;
    const bool running = partial && volumes_.empty() && !fs::exists(path, code);
    if (running) run_ = std::make_unique<RunView>(path, *partial);
    volumes_.push_back(
        std::make_unique<ViewedVolume>(static_cast<int>(volumes_.size()), running ? *partial : path, "volume"));
  }
  if (!options.labels.empty())
    volumes_.push_back(std::make_unique<ViewedVolume>(static_cast<int>(volumes_.size()), options.labels, "labels"));
  if (!options.labels.empty() && volumes_.back()->get()->size() != volumes_.front()->get()->size())
    throw Error(ErrorKind::input, {.what = "the labels have another size than the volume",
                                   .where = options.labels.string(),
                                   .why = {},
                                   .hint = "give the label volume that lepus analyze made of this volume"});
  for (const auto& volume : volumes_)
    if (options.water_per_mm && volume->role() == "volume" && !can_have_water(volume->get()->unit))
      throw Error(ErrorKind::usage, {.what = "--water is for attenuations in 1/mm",
                                     .where = volume->path().string(),
                                     .why = format("its values are in '{}'", volume->get()->unit),
                                     .hint = "leave it out"});
  if (!options.blobs.empty()) blobs_.emplace(options.blobs);
  pyramids_.resize(volumes_.size());
  if (!run_)
    for (std::size_t i = 0; i < volumes_.size(); ++i) start_pyramid(i);
}

Viewer::~Viewer() = default;

// Labels are numbers of things: the mean of two is a third.
void Viewer::start_pyramid(std::size_t index) {
  pyramids_[index].reset();
  const bool write = options_.write_pyramid && volumes_[index]->role() != "labels";
  pyramids_[index] = std::make_unique<PyramidThread>(*volumes_[index], events_, admission_, write);
}

std::string Viewer::title() const {
  if (scan_) return options_.scan.filename().string();
  std::string names;
  for (const fs::path& path : options_.volumes) names += (names.empty() ? "" : " and ") + path.filename().string();
  return names;
}

nlohmann::json Viewer::awaited_run() const {
  const fs::path& output = options_.volumes.front();
  return options_.status.empty() ? iterative_run(output) : live_run(options_.status, output);
}

void Viewer::open_awaited_output() {
  const fs::path& output = options_.volumes.front();
  const std::string now = json_text(awaited_run());
  if (std::exchange(awaited_, now) != now)
    events_.publish(now == "null" ? "session" : "run", now == "null" ? "{}" : now);
  std::error_code code;
  if (!volumes_.empty() || !fs::exists(output, code)) return;
  try {
    auto finished = std::make_unique<ViewedVolume>(0, output, "volume");
    {
      const std::unique_lock lock(volumes_mutex_);
      volumes_.push_back(std::move(finished));
      pyramids_.resize(1);
    }
    start_pyramid(0);
    events_.publish("session", "{}");
  } catch (const Error&) {
    return;  // it is being written; the next look tries again
  }
}

void Viewer::look() {
  if (awaiting_) open_awaited_output();
  bool anything = scan_ && scan_->look();
  const bool running = run_ && run_->state() != "finished";
  for (std::size_t i = running ? 1 : 0; i < volumes_.size(); ++i) {
    if (!volumes_[i]->look()) continue;
    anything = true;
    const std::string gone = volumes_[i]->gone();
    if (gone.empty() && volumes_[i]->pyramid().state == "none") start_pyramid(i);
    if (!gone.empty()) events_.publish("gone", json_text(nlohmann::json{{"volume", volumes_[i]->id()}, {"why", gone}}));
  }
  if (running && run_->look()) {
    if (run_->state() == "finished") volumes_.front()->moved_to(run_->output());
    volumes_.front()->look();
    events_.publish("run", json_text(run_->json()));
    anything = true;
  }
  if (anything) events_.publish("session", "{}");
}

ViewedVolume& Viewer::volume(const std::string& number) const {
  const std::shared_lock lock(volumes_mutex_);
  for (const auto& volume : volumes_)
    if (number == std::to_string(volume->id())) return *volume;
  throw Refusal(404, {.what = format("there is no volume '{}'", shown(number)),
                      .where = {},
                      .why = format("{} are open, counted from 0", volumes_.size()),
                      .hint = "ask /api/session which there are"});
}

Answer Viewer::session() const {
  const std::shared_lock lock(volumes_mutex_);
  nlohmann::json run;
  if (run_) {
    run = run_->json();
  } else if (awaiting_) {
    run = awaited_run();
  }
  const bool running = run.is_object() && (run["state"] == "running" || volumes_.empty());
  nlohmann::json object{{"version", version},
                        {"kind", scan_     ? "scan"
                                 : running ? "run"
                                           : "volume"},
                        {"volumes", nlohmann::json::array()},
                        {"scan", nullptr},
                        {"run", run}};
  for (const auto& volume : volumes_) {
    nlohmann::json one = volume->json();
    if (options_.water_per_mm && volume->role() == "volume" && can_have_water(one["unit"])) {
      one["hu"] = {{"water_per_mm", *options_.water_per_mm}};
      if (one["unit"] == "raw") one["unit"] = "1/mm";
    }
    object["volumes"].push_back(std::move(one));
  }
  for (const auto& volume : volumes_)
    if (volume->role() == "labels")
      object["volumes"][0]["labels"] = {{"volume", volume->id()}, {"blobs", blobs_ ? blobs_->rows() : 0}};
  if (scan_) object["scan"] = scan_->json();
  Answer answer;
  answer.body = json_text(object);
  return answer;
}

Answer Viewer::answer_or_throw(const Request& request) {
  const auto steps = steps_of(request.path);
  if (steps.size() < 2 || steps[0] != "api") not_there(request.path);
  Workplace workplace{cache_, admission_, cancel_, options_.water_per_mm};
  if (steps[1] == "scan" && scan_ && steps.size() == 3) return scan_->answer(steps[2], request, admission_);
  if (request.method != "GET")
    throw Refusal(405, {.what = "this can only be asked for with GET",
                        .where = shown(request.path),
                        .why = {},
                        .hint = "docs/view-protocol.md has all requests"});
  if (steps[1] == "session" && steps.size() == 2) return session();
  if (steps[1] == "difference" && steps.size() == 2) {
    Query query(request);
    const auto a = volume(query.text("a", "0")).get(), b = volume(query.text("b", "1")).get();
    return answer_difference(*a, *b, request, workplace);
  }
  if (steps[1] == "volumes" && steps.size() == 4) {
    const ViewedVolume& chosen = volume(steps[2]);
    if (steps[3] == "blobs") {
      if (!blobs_)
        throw Refusal(404, {.what = "no table of blobs is open",
                            .where = {},
                            .why = {},
                            .hint = "start lepus view with --blobs blobs.csv"});
      Answer answer;
      answer.body = blobs_->json();
      return answer;
    }
    if (chosen.role() == "labels") workplace.water_per_mm.reset();
    return answer_about(*chosen.get(), steps[3], request, workplace);
  }
  not_there(request.path);
}

Answer Viewer::answer(const Request& request) {
  try {
    return answer_or_throw(request);
  } catch (const Error& error) {
    return answer_of_error(error);
  } catch (const std::bad_alloc&) {
    return answer_of_error(Refusal(503, {.what = "there is not enough memory for this",
                                         .where = {},
                                         .why = {},
                                         .hint = "ask for a smaller part, or again"}));
  } catch (const std::exception& error) {
    return answer_of_error(
        Error(ErrorKind::internal,
              {.what = "something unexpected happened", .where = {}, .why = error.what(), .hint = "report this"}));
  }
}

}  // namespace lepus::view

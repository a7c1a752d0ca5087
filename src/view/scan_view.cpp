// SPDX-License-Identifier: Apache-2.0
#include "view/scan_view.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "align/axis_line.h"
#include "align/scan_rows.h"
#include "core/format.h"
#include "core/input_file.h"
#include "core/json.h"
#include "core/output_file.h"
#include "core/text.h"
#include "geometry/camera.h"
#include "job/automatic_center.h"
#include "run/memory_io.h"
#include "run/prepass.h"
#include "run/reconstruct_scan.h"
#include "view/volume_requests.h"

namespace lepus::view {
namespace {

constexpr std::int64_t largest_corrected_scan = std::int64_t{1} << 28;  // pixels of all views, for one frame of it

// A view leaves the scan's files alone; without its corrections dead pixels are bridged all the same, because without
// that there may be no line integrals.
Scan scan_of(const std::string& toml, const std::filesystem::path& file, bool corrected) {
  Scan scan = read_scan_text(toml, file);
  for (CorrectionSpec& spec : scan.corrections) spec.parameters.erase("write");
  if (!corrected)
    std::erase_if(scan.corrections, [](const CorrectionSpec& spec) { return spec.kind != "dead-pixels"; });
  return scan;
}

nlohmann::json options_json(const CorrectionSpec& spec) {
  nlohmann::json options = nlohmann::json::object();
  for (const auto& [name, value] : spec.parameters)
    std::visit([&, &key = name](const auto& v) { options[key] = v; }, value);
  return options;
}

GreyRange range_of_frame(std::vector<float> values) {
  ValueSample sample;
  std::erase_if(values, [](float v) { return !std::isfinite(v); });
  std::ranges::sort(values);
  sample.values = std::move(values);
  return default_range(sample);
}

Answer picture(const std::vector<float>& values, std::int64_t width, std::int64_t height, Query& query) {
  return picture_answer(values, width, height, query, range_of_frame(values));
}

nlohmann::json body_of(const Request& request) {
  nlohmann::json body = json_or_discarded(request.body);
  if (!body.is_object() || !body.contains("toml") || !body["toml"].is_string())
    throw Refusal(400, {.what = "this needs a JSON object with the text of a scan file as \"toml\"",
                        .where = request.path,
                        .why = {},
                        .hint = "docs/view-protocol.md has all requests"});
  return body;
}

// {"index": 3, "window": [0, 1]} -> parameters as a GET has them.
Request with_parameters(const Request& request, const nlohmann::json& body) {
  Request same{"GET", request.path, {}, {}};
  for (const auto& [name, value] : body.items()) {
    if (name == "toml" || value.is_null()) continue;
    if (value.is_string()) {
      same.parameters.emplace(name, value.get<std::string>());
    } else if (value.is_array()) {
      std::string list;
      for (const auto& item : value) list += (list.empty() ? "" : ",") + json_text(item);
      same.parameters.emplace(name, list);
    } else {
      same.parameters.emplace(name, json_text(value));
    }
  }
  return same;
}

// A flat or a dark as it was recorded.
Answer reference_frame(Query& query, const Scan& scan, const std::string& stage, Admission& admission) {
  const auto& files = stage == "flat" ? scan.flats : scan.darks;
  if (!files)
    throw Refusal(422, {.what = format("the scan has no {}s", stage),
                        .where = scan.file.string(),
                        .why = {},
                        .hint = "name them in [frames]"});
  const auto frames = open_frames(*files);
  const std::int64_t index = query.integer("index", 0, 0, frames->frames() - 1);
  const auto memory = admission.take(16 * frames->columns() * frames->rows());
  std::vector<float> values(static_cast<std::size_t>(frames->columns() * frames->rows()));
  frames->read(index, 0, frames->rows(), values.data());
  return picture(values, frames->columns(), frames->rows(), query);
}

std::int64_t frames_in(const std::optional<FrameFiles>& files) { return files ? open_frames(*files)->frames() : 0; }

}  // namespace

struct ScanView::Prepared {
  std::string toml;
  bool corrected = false;
  Scan scan;
  PrePass pass;
};

ScanView::ScanView(std::filesystem::path file, Context& context, std::int64_t memory_bytes)
    : file_(std::move(file)), context_(context), memory_bytes_(memory_bytes) {
  (void)read_scan(file_);
  text_ = read_text_file(file_, largest_scan_file);
}

ScanView::~ScanView() = default;

bool ScanView::look() {
  try {
    const std::string now = read_text_file(file_, largest_scan_file);
    const std::scoped_lock lock(text_mutex_);
    return std::exchange(text_, now) != now;
  } catch (const Error&) {
    return false;  // it is being replaced, or gone: saving will say so
  }
}

nlohmann::json ScanView::json() const {
  std::string text;
  {
    const std::scoped_lock lock(text_mutex_);
    text = text_;
  }
  nlohmann::json object{{"file", file_.filename().string()}, {"toml", text}, {"error", nullptr}};
  try {
    const Scan scan = read_scan_text(text, file_);
    const VolumeGrid& g = scan.grid;
    object["views"] = scan.geometry.views();
    object["columns"] = scan.geometry.recorded_on_arc ? scan.geometry.recorded_on_arc->columns : scan.geometry.columns;
    object["rows"] = scan.geometry.recorded_on_arc ? scan.geometry.recorded_on_arc->rows : scan.geometry.rows;
    object["angles"] = nlohmann::json::array();
    for (std::int64_t view = 0; view < scan.geometry.views(); ++view)
      object["angles"].push_back(degrees(view_angle_rad(camera_of(scan.geometry, view))));
    object["corrections"] = nlohmann::json::array();
    for (const CorrectionSpec& spec : scan.corrections)
      object["corrections"].push_back({{"kind", spec.kind}, {"options", options_json(spec)}});
    object["axis_column"] = recorded_axis_column(scan.geometry);
    object["flats"] = frames_in(scan.flats);
    object["darks"] = frames_in(scan.darks);
    object["stages"] = {"raw", "corrected", "line"};
    if (scan.flats) object["stages"].push_back("flat");
    if (scan.darks) object["stages"].push_back("dark");
    object["grid"] = {{"size", {g.nx, g.ny, g.nz}},
                      {"step_mm", {g.step_mm.x, g.step_mm.y, g.step_mm.z}},
                      {"origin_mm", {g.origin_mm.x, g.origin_mm.y, g.origin_mm.z}}};
  } catch (const Error& error) {
    object["error"] = error.what();
  }
  return object;
}

std::shared_ptr<ScanView::Prepared> ScanView::prepared(const std::string& toml, bool corrected) {
  for (const auto& ready : recent_)
    if (ready->toml == toml && ready->corrected == corrected) return ready;
  auto fresh = std::make_shared<Prepared>();
  fresh->toml = toml;
  fresh->corrected = corrected;
  fresh->scan = scan_of(toml, file_, corrected);
  fresh->pass = pre_pass(fresh->scan, context_);
  recent_.push_front(fresh);
  if (recent_.size() > 3) recent_.pop_back();
  return fresh;
}

Answer ScanView::frame(const Request& request, const std::string& toml, Admission& admission) {
  Query query(request);
  const std::string stage = query.word("stage", {"corrected", "raw", "line", "flat", "dark"});
  if (stage == "flat" || stage == "dark") return reference_frame(query, scan_of(toml, file_, false), stage, admission);
  const auto ready = prepared(toml, stage == "corrected");
  const FrameSource& frames = *ready->pass.frames;
  const std::int64_t columns = frames.columns(), rows = frames.rows(), views = frames.frames();
  const std::int64_t index = query.integer("index", views / 2, 0, views - 1);
  const auto memory = admission.take(16 * columns * rows);
  std::vector<float> values(static_cast<std::size_t>(columns * rows));
  if (stage == "raw") {
    frames.read(index, 0, rows, values.data());
    return picture(values, columns, rows, query);
  }
  // Some corrections need all views of a row: a frame costs as much as all of them.
  if (columns * rows > largest_corrected_scan / views)
    throw Refusal(413, {.what = "a corrected frame of this scan would take too long",
                        .where = {},
                        .why = format("corrections look at all {} views", views),
                        .hint = "look at its sinograms"});
  const std::int64_t band = std::clamp<std::int64_t>((std::int64_t{1} << 24) / (views * columns), 1, rows);
  for (std::int64_t row = 0; row < rows; row += band) {
    const RowBand wanted{row, std::min(row + band, rows)};
    const Buffer<float> made = ready->pass.chain->corrected(wanted, context_.threads);
    for (std::int64_t r = 0; r < wanted.size(); ++r)
      std::copy_n(made.data() + (r * views + index) * columns, columns, values.data() + (row + r) * columns);
  }
  return picture(values, columns, rows, query);
}

Answer ScanView::sinogram(const Request& request, const std::string& toml, Admission& admission) {
  Query query(request);
  const std::string stage = query.word("stage", {"corrected", "raw", "line"});
  const auto ready = prepared(toml, stage == "corrected");
  const FrameSource& frames = *ready->pass.frames;
  const std::int64_t columns = frames.columns(), rows = frames.rows(), views = frames.frames();
  const std::int64_t row = query.integer("row", rows / 2, 0, rows - 1);
  const auto memory = admission.take(16 * columns * views);
  std::vector<float> values(static_cast<std::size_t>(columns * views));
  if (stage == "raw") {
    for (std::int64_t view = 0; view < views; ++view) frames.read(view, row, row + 1, values.data() + view * columns);
  } else {
    const Buffer<float> made = ready->pass.chain->corrected({row, row + 1}, context_.threads);
    std::copy_n(made.data(), columns * views, values.data());
  }
  return picture(values, columns, views, query);
}

Answer ScanView::slice(const nlohmann::json& body, Admission& admission) {
  const auto start = std::chrono::steady_clock::now();
  Scan scan = scan_of(body["toml"].get<std::string>(), file_, true);
  center_automatically(scan, context_);
  const auto wanted = body.value("z", nlohmann::json());
  if (!wanted.is_null() &&
      (!wanted.is_number_integer() || wanted.get<std::int64_t>() < 0 || wanted.get<std::int64_t>() >= scan.grid.nz))
    throw Refusal(400, {.what = "there is no such slice",
                        .where = {},
                        .why = format("the volume has slices 0 to {}", scan.grid.nz - 1),
                        .hint = "give \"z\" as one of them, or null for the middle one"});
  const std::int64_t z = wanted.is_null() ? scan.grid.nz / 2 : wanted.get<std::int64_t>();
  scan.grid.origin_mm.z = scan.grid.centre(0, 0, static_cast<double>(z)).z;
  scan.grid.nz = 1;
  scan.post.clear();
  const auto memory = admission.take(12 * scan.grid.nx * scan.grid.ny);
  std::vector<float> voxels(static_cast<std::size_t>(scan.grid.nx * scan.grid.ny));
  MemoryVolume volume(scan.grid, voxels.data());
  ReconstructOptions options;
  options.compute.memory_bytes = memory_bytes_;
  reconstruct_scan(scan, volume, file_, options, context_);
  const Request as_floats{"GET", "", {{"format", "f32"}}, {}};
  Query query(as_floats);
  Answer answer = picture(voxels, scan.grid.nx, scan.grid.ny, query);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.headers.emplace_back("X-Lepus-Seconds", format("{:.3f}", seconds));
  answer.headers.emplace_back("X-Lepus-Index", format("{}", z));
  answer.headers.emplace_back("X-Lepus-Step-Mm", format("{:.9g},{:.9g}", scan.grid.step_mm.x, scan.grid.step_mm.y));
  return answer;
}

Answer ScanView::axis(const nlohmann::json& body) {
  const Scan scan = scan_of(body["toml"].get<std::string>(), file_, true);
  CenterRequest request;
  request.memory_bytes = memory_bytes_ / 2;
  const CenterScan rows = read_center_rows(scan, request, context_);
  const CenterResult found = rows.in_frames(find_center(rows.input, context_));
  std::string doubt = found.known ? "" : "the axis is not known";
  for (const std::string& warning : found.warnings) doubt += (doubt.empty() ? "" : "; ") + warning;
  Answer answer;
  answer.body = json_text(nlohmann::json{{"column", found.column},
                                         {"error", found.column_error},
                                         {"given", found.given_column},
                                         {"in_plane_deg", found.in_plane_deg},
                                         {"doubt", doubt}});
  return answer;
}

Answer ScanView::save(const nlohmann::json& body) {
  const std::string text = body["toml"].get<std::string>();
  if (!body.contains("read") || !body["read"].is_string())
    throw Refusal(400, {.what = "the text that the page began with is missing",
                        .where = {},
                        .why = "without it somebody's change could be lost",
                        .hint = "send it as \"read\""});
  (void)read_scan_text(text, file_);  // what cannot be read is not saved
  const OutputLock lock(file_);
  const std::string before = read_text_file(file_, largest_scan_file);
  if (before != body["read"].get<std::string>())
    throw Refusal(409, {.what = "the scan file changed meanwhile",
                        .where = file_.string(),
                        .why = "somebody else wrote it since the page read it",
                        .hint = "load the page again, and repeat the change"});
  const std::filesystem::path backup = file_.string() + ".bak";
  write_file(backup, before, true);
  write_file(file_, text, true);
  const std::scoped_lock text_lock(text_mutex_);
  text_ = text;
  Answer answer;
  answer.body = json_text(nlohmann::json{{"backup", backup.filename().string()}});
  return answer;
}

Answer ScanView::answer(const std::string& what, const Request& request, Admission& admission) {
  const bool post = request.method == "POST";
  const nlohmann::json body = post ? body_of(request) : nlohmann::json();
  std::string toml;
  if (post) {
    toml = body["toml"].get<std::string>();
  } else {
    const std::scoped_lock lock(text_mutex_);
    toml = text_;
  }
  const std::scoped_lock working(work_);
  if (what == "frame") return frame(post ? with_parameters(request, body) : request, toml, admission);
  if (what == "sinogram") return sinogram(post ? with_parameters(request, body) : request, toml, admission);
  if (post && what == "slice") return slice(body, admission);
  if (post && what == "axis") return axis(body);
  if (post && what == "save") return save(body);
  throw Refusal(404, {.what = format("a scan has no '{}'", shown(what)),
                      .where = {},
                      .why = {},
                      .hint = "docs/view-protocol.md has all requests"});
}

}  // namespace lepus::view

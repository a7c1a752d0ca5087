// SPDX-License-Identifier: Apache-2.0
// A report as JSON and back. Rate, share and verdict are written for readers in other languages; lepus reads only what
// they follow from.
#include <cmath>
#include <limits>

#include "core/format.h"
#include "core/json.h"
#include "core/nesting.h"
#include "io/file.h"
#include "bench/measure/report.h"
#include <lepus/error.h>

namespace lepus::measure {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_kind = "bench report";
constexpr int report_format = 1;
constexpr std::int64_t largest_report_bytes = 64 << 20;

// The same list serves writing and reading.
template <class Visit, class AnyFigure>
void each_field(AnyFigure& f, Visit&& visit) {
  visit("group", f.group);
  visit("name", f.name);
  visit("seconds", f.seconds);
  visit("work", f.work);
  visit("unit", f.unit);
  visit("limit_rate", f.limit_rate);
  visit("limit", f.limit);
  visit("error", f.error);
  visit("error_limit", f.error_limit);
  visit("error_of", f.error_of);
  visit("published_seconds", f.published_seconds);
  visit("published", f.published);
  visit("note", f.note);
}

template <class Visit, class AnyMachine>
void each_machine_field(AnyMachine& m, Visit&& visit) {
  visit("cpu", m.cpu);
  visit("gpu", m.gpu);
  visit("driver", m.driver);
  visit("system", m.system);
  visit("threads", m.threads);
  visit("memory_bytes", m.memory_bytes);
  visit("gpu_memory_bytes", m.gpu_memory_bytes);
  visit("clock_hz", m.clock_hz);
}

template <class Visit, class AnyReport>
void each_report_field(AnyReport& r, Visit&& visit) {
  visit("title", r.title);
  visit("command", r.command);
  visit("version", r.version);
  visit("date", r.date);
}

// JSON knows no NaN and no infinity; null stands for them, and is read as NaN: a wrong figure stays wrong.
class Writer {
public:
  explicit Writer(Json& object) : object_(object) {}
  void operator()(const char* key, double value) { object_[key] = std::isfinite(value) ? Json(value) : Json(); }
  void operator()(const char* key, int value) { object_[key] = value; }
  void operator()(const char* key, const std::string& value) { object_[key] = value; }

private:
  Json& object_;
};

class Reader {
public:
  Reader(const Json& object, std::string where, std::string path)
      : object_(object), where_(std::move(where)), path_(std::move(path)) {
    if (!object_.is_object()) refuse(path_, "is not an object");
  }
  void operator()(const char* key, double& value) const {
    const Json& found = at(key);
    if (!found.is_number() && !found.is_null()) refuse(named(key), "is not a number");
    value = found.is_null() ? std::numeric_limits<double>::quiet_NaN() : found.get<double>();
  }
  void operator()(const char* key, int& value) const {
    const Json& found = at(key);
    if (!found.is_number_integer()) refuse(named(key), "is not a whole number");
    value = found.get<int>();
  }
  void operator()(const char* key, std::string& value) const {
    const Json& found = at(key);
    if (!found.is_string()) refuse(named(key), "is not a text");
    value = found.get<std::string>();
  }
  const Json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(named(key), "is missing");
    return *found;
  }
  [[noreturn]] void refuse(const std::string& what, const std::string& why) const {
    throw Error(ErrorKind::input, {.what = "the report cannot be read",
                                   .where = where_,
                                   .why = format("'{}' {}", what, why),
                                   .hint = "write it again with 'lepus bench --output FOLDER'"});
  }

private:
  std::string named(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  const Json& object_;
  std::string where_, path_;
};

}  // namespace

std::string to_json(const Report& report) {
  Json out{{"lepus", report_kind}, {"format", report_format}};
  each_report_field(report, Writer(out));
  Json machine = Json::object();
  each_machine_field(report.machine, Writer(machine));
  out["machine"] = machine;
  out["correct"] = report.correct();
  out["figures"] = Json::array();
  for (const Figure& f : report.figures) {
    Json object = Json::object();
    Writer write(object);
    each_field(f, write);
    write("rate", f.rate());
    write("share_of_limit", f.share_of_limit());
    object["correct"] = f.correct();
    out["figures"].push_back(object);
  }
  return json_text(out, 1) + "\n";
}

Report read_report(const std::filesystem::path& file) {
  const std::string text = read_text_file(file, largest_report_bytes);
  const Error foreign(ErrorKind::input, {.what = "this is not a report of lepus bench",
                                         .where = file.string(),
                                         .why = "it is not marked as one",
                                         .hint = "give the .json file that 'lepus bench --output FOLDER' wrote"});
  Json json;
  try {
    check_json_nesting(text, file.string());
    json = parse_ordered_json(text);
  } catch (const Json::parse_error& error) {
    const bool ends_early = error.byte > text.size();
    throw Error(
        ErrorKind::input,
        {.what = ends_early ? "the report is truncated" : "this is not JSON",
         .where = file.string(),
         .why = ends_early ? format("it ends after {} bytes, inside a value", text.size())
                           : format("byte {} cannot stand where it does", error.byte),
         .hint = ends_early ? "copy it again" : "give the .json file that 'lepus bench --output FOLDER' wrote"});
  }
  if (!json.is_object() || !json.contains("lepus") || json["lepus"] != report_kind) throw foreign;
  const Reader read(json, file.string(), "");
  int version = 0;
  read("format", version);
  if (version != report_format)
    throw Error(ErrorKind::input, {.what = "the report is of another format",
                                   .where = file.string(),
                                   .why = format("format {}, this lepus knows {}", version, report_format),
                                   .hint = "compare reports that the same version of lepus wrote"});
  Report report;
  each_report_field(report, read);
  each_machine_field(report.machine, Reader(read.at("machine"), file.string(), "machine"));
  const Json& figures = read.at("figures");
  if (!figures.is_array()) read.refuse("figures", "is not a list");
  report.figures.reserve(figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    Figure f;
    each_field(f, Reader(figures[i], file.string(), format("figures[{}]", i)));
    report.figures.push_back(f);
  }
  return report;
}

}  // namespace lepus::measure

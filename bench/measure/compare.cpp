// SPDX-License-Identifier: Apache-2.0
// Two reports side by side. Where both figures count the same work, speed is their rates' ratio, so that a machine that
// took fewer views of the same problem can still be compared; else it is the ratio of their times.
#include <algorithm>

#include "core/format.h"
#include "core/json.h"
#include <lepus/error.h>
#include "bench/measure/report.h"
#include "bench/measure/table.h"
#include "plot/text.h"

namespace lepus::measure {

using namespace plot;
namespace {

const Figure* figure_of(const Report& report, const Figure& like) {
  const auto found = std::find_if(report.figures.begin(), report.figures.end(),
                                  [&](const Figure& f) { return f.group == like.group && f.name == like.name; });
  return found == report.figures.end() ? nullptr : &*found;
}

// b's speed over a's; 0 where one of them is wrong or has no time.
double speed_ratio(const Figure& a, const Figure& b) {
  if (!a.correct() || !b.correct() || !(a.seconds > 0) || !(b.seconds > 0)) return 0;
  return a.unit == b.unit && a.work > 0 && b.work > 0 ? b.rate() / a.rate() : a.seconds / b.seconds;
}

std::string compared_cell(const Figure& f) {
  if (!f.correct()) return "wrong";
  return time_text(f.seconds) + (f.work > 0 ? ", " + rate_text(f.rate(), f.unit) : "");
}

std::string compared_share(const Figure& f) { return f.limit_rate > 0 ? share_text(f.share_of_limit()) : ""; }

std::vector<const Figure*> only_in(const Report& report, const Report& other) {
  std::vector<const Figure*> found;
  for (const Figure& f : report.figures)
    if (figure_of(other, f) == nullptr) found.push_back(&f);
  return found;
}

}  // namespace

std::string compare_markdown(const Report& a, const Report& b) {
  std::string text = "# " + a.title + ": a and b\n\n" + machine_table({&a, &b}, {"a", "b"});
  for (const std::string& group : groups_of(a)) {
    MarkdownTable table({"", "a", "b", "b's speed over a's", "a's share of its limit", "b's"});
    bool any = false;
    for (const Figure& f : a.figures)
      if (const Figure* other = figure_of(b, f); f.group == group && other != nullptr) {
        const double ratio = speed_ratio(f, *other);
        table.row({f.name, compared_cell(f), compared_cell(*other), ratio > 0 ? times_text(ratio) : "-",
                   compared_share(f), compared_share(*other)});
        any = true;
      }
    if (any) text += "\n## " + group + "\n\n" + table.text();
  }
  for (const auto& [report, other, name] : {std::tuple{&a, &b, "a"}, std::tuple{&b, &a, "b"}}) {
    const auto alone = only_in(*report, *other);
    if (alone.empty()) continue;
    MarkdownTable table({"", name});
    for (const Figure* f : alone) table.row({f->group + ": " + f->name, compared_cell(*f)});
    text += format("\n## only in {}\n\n", name) + table.text();
  }
  return text;
}

std::vector<SlowerFigure> slower_figures(const Report& a, const Report& b, double tolerance) {
  std::vector<SlowerFigure> slower;
  for (const Figure& f : a.figures) {
    const Figure* other = figure_of(b, f);
    const double ratio = other == nullptr ? 0 : speed_ratio(f, *other);
    if (f.group != "machine" && !(ratio >= 1 - tolerance)) slower.push_back({f.group, f.name, ratio});
  }
  return slower;
}

Report read_best_report(const std::filesystem::path& file_or_folder) {
  if (!std::filesystem::is_directory(file_or_folder)) return read_report(file_or_folder);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(file_or_folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw Error(ErrorKind::input, {.what = "no report is in this folder",
                                   .where = file_or_folder.string(),
                                   .why = "no file in it or below ends in .json",
                                   .hint = "'lepus bench --output FOLDER' writes one"});
  Report best = read_report(files.front());
  for (std::size_t i = 1; i < files.size(); ++i)
    for (const Figure& f : read_report(files[i]).figures) {
      const auto known = std::find_if(best.figures.begin(), best.figures.end(),
                                      [&](const Figure& k) { return k.group == f.group && k.name == f.name; });
      if (known == best.figures.end())
        best.figures.push_back(f);
      else if (known->correct() && (!f.correct() || speed_ratio(*known, f) > 1))
        *known = f;
    }
  return best;
}

std::string compare_json(const Report& a, const Report& b) {
  nlohmann::ordered_json out{{"lepus", "bench comparison"}, {"figures", nlohmann::ordered_json::array()}};
  out["correct"] = a.correct() && b.correct();
  for (const Figure& f : a.figures)
    if (const Figure* other = figure_of(b, f)) {
      const double ratio = speed_ratio(f, *other);
      out["figures"].push_back({{"group", f.group},
                                {"name", f.name},
                                {"unit", f.unit},
                                {"a_seconds", f.seconds},
                                {"b_seconds", other->seconds},
                                {"a_rate", f.rate()},
                                {"b_rate", other->rate()},
                                {"a_share_of_limit", f.share_of_limit()},
                                {"b_share_of_limit", other->share_of_limit()},
                                {"a_correct", f.correct()},
                                {"b_correct", other->correct()},
                                {"speed", ratio > 0 ? nlohmann::ordered_json(ratio) : nlohmann::ordered_json()}});
    }
  for (const auto& [report, other, key] : {std::tuple{&a, &b, "only_a"}, std::tuple{&b, &a, "only_b"}}) {
    out[key] = nlohmann::ordered_json::array();
    for (const Figure* f : only_in(*report, *other)) out[key].push_back({{"group", f->group}, {"name", f->name}});
  }
  return json_text(out, 1) + "\n";
}

}  // namespace lepus::measure

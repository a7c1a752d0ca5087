// SPDX-License-Identifier: Apache-2.0
// A report as Markdown: a table for each group, with the columns that it fills.
#include <algorithm>
#include <functional>

#include "core/format.h"
#include "bench/measure/report.h"
#include "bench/measure/table.h"
#include "plot/text.h"

namespace lepus::measure {

using namespace plot;
namespace {

std::string error_cell(const Figure& f) {
  if (f.error_of.empty() && f.error == 0) return {};
  return three_digits(f.error) +
         (f.correct() ? "" : format(" **wrong**, at most {} is right", three_digits(f.error_limit)));
}

// What the group's errors are of, when all say the same: once below the table instead of in every row.
std::string common_text(const std::vector<const Figure*>& figures, std::string Figure::*member) {
  for (const Figure* f : figures)
    if (f->*member != figures.front()->*member) return {};
  return figures.front()->*member;
}

std::string group_table(const Report& report, const std::string& group) {
  std::vector<const Figure*> figures;
  for (const Figure& f : report.figures)
    if (f.group == group) figures.push_back(&f);
  const std::string error_of = common_text(figures, &Figure::error_of);
  MarkdownTable table({"", "time", "rate", "limit", "share", "error", error_of.empty() ? "error of" : "", "published",
                       "by", "faster", ""});
  for (const Figure* f : figures) {
    const bool limited = f->limit_rate > 0, published = f->published_seconds > 0;
    table.row({f->name, time_text(f->seconds), f->work > 0 ? rate_text(f->rate(), f->unit) : "",
               limited ? rate_text(f->limit_rate, f->unit) + (f->limit.empty() ? "" : ", " + f->limit) : "",
               limited ? share_text(f->share_of_limit()) : "", error_cell(*f), error_of.empty() ? f->error_of : "",
               published ? time_text(f->published_seconds) : "", f->published,
               published && f->correct() && f->seconds > 0 ? times_text(f->published_seconds / f->seconds) : "",
               f->note});
  }
  return format("\n## {}\n\n{}", group, table.text()) + (error_of.empty() ? "" : format("\nError: {}.\n", error_of));
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string text = format("# {}\n\n{}", report.title, machine_table({&report}, {report.title}));
  const auto wrong =
      std::count_if(report.figures.begin(), report.figures.end(), [](const Figure& f) { return !f.correct(); });
  if (wrong > 0)
    text += format("\n**{} of {} results are wrong: their times count for nothing.**\n", wrong, report.figures.size());
  for (const std::string& group : groups_of(report)) text += group_table(report, group);
  return text;
}

}  // namespace lepus::measure

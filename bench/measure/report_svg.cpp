// SPDX-License-Identifier: Apache-2.0
// A report as pictures: for each group how much of its limit every figure reaches, and the times of those whose limit
// is not known or that somebody else has published a time for. How long it took to measure the machine says nothing.
#include <algorithm>

#include "core/format.h"
#include "plot/drawing.h"
#include "bench/measure/report.h"
#include "plot/text.h"

namespace lepus::measure {

using namespace plot;
namespace {

std::string verdict_or(const Figure& f, const std::string& text) { return f.correct() ? text : "wrong"; }

BarChart share_chart(const Report& report, const std::string& group) {
  BarChart chart{group + ": % of the machine's limit", {}, {}, false, {}, 100};
  for (const Figure& f : report.figures)
    if (f.group == group && f.limit_rate > 0)
      chart.bars.push_back(
          {f.name, f.correct() ? 100 * f.share_of_limit() : 0,
           verdict_or(f, format("{}, {}", share_text(f.share_of_limit()), rate_text(f.rate(), f.unit))), 0});
  return chart;
}

BarChart time_chart(const Report& report, const std::string& group) {
  BarChart chart{group + ": time", "seconds", "published", false, {}};
  const bool published = std::any_of(report.figures.begin(), report.figures.end(),
                                     [&](const Figure& f) { return f.group == group && f.published_seconds > 0; });
  double shortest = 0, longest = 0;
  for (const Figure& f : report.figures)
    if (f.group == group && f.seconds > 0 && f.group != "machine" && (published || !(f.limit_rate > 0))) {
      for (const double s : {f.seconds, f.published_seconds})
        if (s > 0) {
          shortest = shortest > 0 ? std::min(shortest, s) : s;
          longest = std::max(longest, s);
        }
      const std::string text = time_text(f.seconds) + (f.work > 0 ? ", " + rate_text(f.rate(), f.unit) : "");
      chart.bars.push_back({f.name, f.correct() ? f.seconds : 0, verdict_or(f, text), f.published_seconds});
    }
  chart.logarithmic = longest > 30 * shortest;  // else the short bars cannot be told apart
  return chart;
}

}  // namespace

std::string to_svg(const Report& report) {
  std::vector<BarChart> charts;
  double label_width = 0;
  for (const std::string& group : groups_of(report))
    for (const BarChart& chart : {share_chart(report, group), time_chart(report, group)}) {
      if (chart.bars.empty()) continue;
      for (const Bar& bar : chart.bars) label_width = std::max(label_width, text_width(bar.label));
      charts.push_back(chart);
    }
  std::vector<Drawing> drawings;
  drawings.reserve(charts.size());
  for (BarChart& chart : charts) {
    chart.label_width = label_width;
    drawings.push_back(draw(chart));
  }
  return svg_page(drawings);
}

}  // namespace lepus::measure

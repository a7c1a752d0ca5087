// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "plot/drawing.h"
#include "plot/text.h"

namespace lepus::plot {
namespace {

constexpr double bars_width = 420, row_height = 22, bar_height = 14, title_height = 26, tick_height = 18,
                 axis_height = 34;

std::string rectangle(double x, double y, double width, double height, const char* style) {
  return format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n", x, y, width,
                height, style);
}

}  // namespace

Drawing draw(const BarChart& chart) {
  std::vector<double> values{chart.reaches};
  double label_width = chart.label_width, end_width = 0;
  bool markers = false;
  for (const Bar& bar : chart.bars) {
    values.push_back(bar.value);
    if (bar.marker > 0) {
      values.push_back(bar.marker);
      markers = true;
    }
    label_width = std::max(label_width, text_width(bar.label));
    end_width = std::max(end_width, text_width(bar.text));
  }
  const Axis axis(values, chart.logarithmic, true);
  const double left = label_width + 10, rows = row_height * static_cast<double>(chart.bars.size());
  const std::string unit = chart.unit + (chart.logarithmic ? " (logarithmic)" : "");
  const bool below = !unit.empty() || (markers && !chart.marker_name.empty());  // a line of text under the ticks
  Drawing d{left + bars_width + end_width + 16, title_height + rows + (below ? axis_height : tick_height), {}};
  d.width = std::max(d.width, text_width(chart.title) * 1.2);
  d.body = text_element(0, 14, chart.title, Align::left, "title");

  for (const double tick : axis.ticks()) {
    const double x = left + bars_width * axis.place(tick);
    d.body += line_element(x, title_height, x, title_height + rows, "grid");
    d.body += text_element(x, title_height + rows + 14, tick_text(tick), Align::middle, "dim");
  }
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const Bar& bar = chart.bars[i];
    const double y = title_height + row_height * static_cast<double>(i), top = y + (row_height - bar_height) / 2;
    const double length = bars_width * axis.place(bar.value), baseline = y + row_height / 2 + 4;
    d.body += text_element(left - 8, baseline, bar.label, Align::right, "label");
    d.body += rectangle(left, top, bars_width, bar_height, "track");
    d.body += rectangle(left, top, length, bar_height, "bar");
    double text_x = left + length + 6;
    if (bar.marker > 0) {
      const double x = left + bars_width * axis.place(bar.marker);
      d.body += line_element(x, top - 2, x, top + bar_height + 2, "marker");
      if (x > text_x - 8 && x < text_x + text_width(bar.text) + 4) text_x = x + 6;  // the tick would strike it out
    }
    d.body += text_element(text_x, baseline, bar.text, Align::left,
                           bar.text.find("wrong") != std::string::npos ? "wrong" : "value");
  }
  d.body += line_element(left, title_height, left, title_height + rows, "axis");
  if (!unit.empty())
    d.body += text_element(left + bars_width / 2, title_height + rows + 30, unit, Align::middle, "dim");
  if (markers && !chart.marker_name.empty()) {
    const double y = title_height + rows + 26;
    d.body += line_element(left, y - 8, left, y + 6, "marker");
    d.body += text_element(left + 8, y + 4, chart.marker_name, Align::left, "dim");
  }
  return d;
}

}  // namespace lepus::plot

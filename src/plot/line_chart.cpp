// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "core/format.h"
#include "plot/drawing.h"
#include "plot/text.h"
#include <lepus/error.h>

namespace lepus::plot {
namespace {

constexpr double plot_width = 520, plot_height = 280, plot_top = 30, plot_left = 58;

// Told apart also by people who see fewer colours: lightness differs, and dashes join where colours repeat.
constexpr std::array series_colours{"#3b82c4", "#e07b00", "#2a9d63", "#c2439c",
                                    "#8a63d2", "#a8792b", "#d1495b", "#6b8e9e"};
constexpr std::array series_dashes{"none", "7 3", "2 3"};

}  // namespace

Drawing draw(const LineChart& chart) {
  std::vector<double> xs, ys;
  double legend_width = 0;
  for (const Line& line : chart.lines) {
    if (line.x.size() != line.y.size())
      throw Error(ErrorKind::internal, {.what = "a line of a chart needs as many x as y",
                                        .where = chart.title + ", " + line.label,
                                        .why = format("{} x, {} y", line.x.size(), line.y.size()),
                                        .hint = {}});
    xs.insert(xs.end(), line.x.begin(), line.x.end());
    ys.insert(ys.end(), line.y.begin(), line.y.end());
    legend_width = std::max(legend_width, text_width(line.label));
  }
  const Axis x_axis(xs, chart.logarithmic_x, false), y_axis(ys, chart.logarithmic_y, true);
  const double bottom = plot_top + plot_height, right = plot_left + plot_width;
  const auto px = [&](double x) { return plot_left + plot_width * x_axis.place(x); };
  const auto py = [&](double y) { return bottom - plot_height * y_axis.place(y); };

  const double legend_height = 20 * static_cast<double>(chart.lines.size());
  Drawing d{right + 44 + legend_width, std::max(bottom + 40, plot_top + legend_height + 10), {}};
  d.width = std::max(d.width, text_width(chart.title) * 1.2);
  d.body = text_element(0, 14, chart.title, Align::left, "title");
  for (const double tick : x_axis.ticks()) {
    d.body += line_element(px(tick), plot_top, px(tick), bottom, "grid");
    d.body += text_element(px(tick), bottom + 16, tick_text(tick), Align::middle, "dim");
  }
  for (const double tick : y_axis.ticks()) {
    d.body += line_element(plot_left, py(tick), right, py(tick), "grid");
    d.body += text_element(plot_left - 6, py(tick) + 4, tick_text(tick), Align::right, "dim");
  }
  d.body += line_element(plot_left, plot_top, plot_left, bottom, "axis");
  d.body += line_element(plot_left, bottom, right, bottom, "axis");
  d.body += text_element(plot_left + plot_width / 2, bottom + 34, chart.x_unit, Align::middle, "dim");
  d.body += text_element(right + 14, plot_top - 8, chart.y_unit, Align::left, "dim");

  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    const char* colour = series_colours[i % series_colours.size()];
    const char* dashes = series_dashes[i / series_colours.size() % series_dashes.size()];
    std::string points, dots;
    for (std::size_t k = 0; k < line.x.size(); ++k) {
      const bool drawn = std::isfinite(line.x[k]) && std::isfinite(line.y[k]) &&
                         (!chart.logarithmic_x || line.x[k] > 0) && (!chart.logarithmic_y || line.y[k] > 0);
      if (!drawn) continue;  // a point that could not be measured
      points += format("{:.1f},{:.1f} ", px(line.x[k]), py(line.y[k]));
      dots +=
          format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", px(line.x[k]), py(line.y[k]), colour);
    }
    const std::string stroke =
        format("fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", colour, dashes);
    d.body += format("<polyline points=\"{}\" {}/>\n", points, stroke) + dots;
    const double y = plot_top + 10 + 20 * static_cast<double>(i);
    d.body += format("<polyline points=\"{:.1f},{:.1f} {:.1f},{:.1f}\" {}/>\n", right + 14, y, right + 34, y, stroke);
    d.body += text_element(right + 40, y + 4, line.label, Align::left, "label");
  }
  return d;
}

}  // namespace lepus::plot

// SPDX-License-Identifier: Apache-2.0
// Plots as SVG text, legible on a light and on a dark page: bars for a table of figures, lines for a sweep.
#pragma once

#include <string>
#include <vector>

namespace lepus::plot {

struct Bar {
  std::string label;
  double value = 0;
  std::string text;   // at the bar's end: "1128 GUPS"
  double marker = 0;  // a second value drawn as a tick on the bar (a published time, a limit); 0: none
};
struct BarChart {
  std::string title, unit;
  std::string marker_name;  // in the legend
  bool logarithmic = false;
  std::vector<Bar> bars;
  double reaches = 0;      // the axis goes at least so far, so that charts can be compared
  double label_width = 0;  // at least so much room for the labels, so that charts below each other start alike
};
std::string svg(const BarChart& chart);

struct Line {
  std::string label;
  std::vector<double> x, y;
};
struct LineChart {
  std::string title, x_unit, y_unit;
  bool logarithmic_x = false, logarithmic_y = false;
  std::vector<Line> lines;
};
std::string svg(const LineChart& chart);

}  // namespace lepus::plot

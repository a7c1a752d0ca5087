// SPDX-License-Identifier: Apache-2.0
// What the charts are drawn with: a picture's elements as text, the scale of an axis, and the page around pictures.
#pragma once

#include <string>
#include <vector>

#include "plot/chart.h"

namespace lepus::plot {

struct Drawing {
  double width = 0, height = 0;
  std::string body;  // SVG elements, from (0, 0)
};

Drawing draw(const BarChart& chart);
Drawing draw(const LineChart& chart);

// One SVG file of pictures below each other, on a card of its own whose colours follow the reader's page.
std::string svg_page(const std::vector<Drawing>& drawings);

// An axis from the data to [0, 1]. Linear ones start at zero where no value is below; logarithmic ones span decades.
class Axis {
public:
  Axis(const std::vector<double>& values, bool logarithmic, bool from_zero);
  double place(double value) const;  // NaN and, on a logarithmic axis, what is not above zero: 0
  const std::vector<double>& ticks() const { return ticks_; }

private:
  bool logarithmic_;
  double low_ = 0, high_ = 1;
  std::vector<double> ticks_;
};

double text_width(const std::string& text);  // about, of the font that the page uses

std::string tick_text(double value);  // "0.01", "1000", never "1e+03" where digits do

enum class Align { left, middle, right };
std::string text_element(double x, double y, const std::string& text, Align align, const char* style);
std::string line_element(double x0, double y0, double x1, double y1, const char* style);

}  // namespace lepus::plot

// SPDX-License-Identifier: Apache-2.0
#include "plot/drawing.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "plot/text.h"

namespace lepus::plot {
namespace {

// The card has its own ground, so the text is legible whatever page it is put on; where the reader prefers dark pages
// it turns dark too. Series colours are of middle lightness and serve on both.
constexpr const char* page_style =
    "<style>\n"
    "text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:14px}.dim{fill:#57606a}\n"
    ".wrong{fill:#cf222e}.card{fill:#fff;stroke:#d0d7de}.grid{stroke:#d8dee4}.axis{stroke:#8c959f}\n"
    ".bar{fill:#3b82c4}.track{fill:#eef1f4}.marker{stroke:#e07b00;stroke-width:3}\n"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9da7b3}.wrong{fill:#ff7b72}\n"
    ".card{fill:#0d1117;stroke:#30363d}.grid{stroke:#262c34}.axis{stroke:#6e7681}.track{fill:#1b222b}\n"
    ".bar{fill:#4f9ae0}.marker{stroke:#ffa94d}}\n"
    "</style>\n";

constexpr double page_margin = 16, between_drawings = 18;

// Round steps of 1, 2 or 5 times a power of ten, about five of them.
double round_step(double span) {
  const double rough = span / 5, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

// 1, 2 or 5 times a power of ten, not above (below) the value.
double round_below(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0})
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  return power;
}
double round_above(double value) { return 1 / round_below(1 / value); }

}  // namespace

Axis::Axis(const std::vector<double>& values, bool logarithmic, bool from_zero) : logarithmic_(logarithmic) {
  double low = 0, high = 0;
  bool any = false;
  for (const double v : values)
    if (std::isfinite(v) && (!logarithmic || v > 0)) {
      low = any ? std::min(low, v) : v;
      high = any ? std::max(high, v) : v;
      any = true;
    }
  if (!any) low = high = 1;
  if (logarithmic) {
    // From one round number to another; bars start below the smallest value, or it would have none.
    const double first = round_below(from_zero ? low / 2 : low), last = round_above(std::max(high, 2 * low));
    low_ = std::log10(first);
    high_ = std::log10(last);
    const bool decades = high_ - low_ > 2;
    const double step = std::max(1.0, std::ceil((high_ - low_) / 7));  // not more labels than fit
    if (decades)
      for (double t = std::ceil(low_ - 1e-9); t <= high_ + 1e-9; t += step) ticks_.push_back(std::pow(10.0, t));
    else
      for (double t = first; t < last * 1.001; t = round_above(t * 1.001)) ticks_.push_back(t);
    return;
  }
  if (from_zero) low = std::min(low, 0.0);
  if (!(high > low)) high = low + (low == 0 ? 1 : std::abs(low));
  const double step = round_step(high - low);
  low_ = from_zero && low == 0 ? 0 : step * std::floor(low / step + 1e-9);
  high_ = step * std::ceil(high / step - 1e-9);
  for (int i = 0; low_ + i * step <= high_ + 1e-6 * step; ++i) ticks_.push_back(low_ + i * step);
}

double Axis::place(double value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return 0;
  const double v = logarithmic_ ? std::log10(value) : value;
  return std::clamp((v - low_) / (high_ - low_), 0.0, 1.0);
}

double text_width(const std::string& text) {
  double width = 0;
  for (const char c : text) {
    if ((c & 0xC0) == 0x80) continue;  // bytes that continue a UTF-8 character take no room
    width += c >= 'A' && c <= 'Z' ? 8.6 : 6.8;
  }
  return width;
}

std::string tick_text(double value) {
  return std::abs(value) >= 1000 && std::abs(value) < 1e6 ? format("{:.0f}", value) : format("{:.3g}", value);
}

std::string text_element(double x, double y, const std::string& text, Align align, const char* style) {
  const char* anchor = align == Align::left ? "start" : align == Align::right ? "end" : "middle";
  return format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor, style,
                xml_text(text));
}

std::string line_element(double x0, double y0, double x1, double y1, const char* style) {
  return format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x0, y0, x1, y1,
                style);
}

std::string svg_page(const std::vector<Drawing>& drawings) {
  double width = 0, height = page_margin;
  std::string body;
  for (const Drawing& d : drawings) {
    body += format("<g transform=\"translate({:.1f},{:.1f})\">\n{}</g>\n", page_margin, height, d.body);
    width = std::max(width, d.width);
    height += d.height + between_drawings;
  }
  width += 2 * page_margin;
  height += page_margin - (drawings.empty() ? 0 : between_drawings);
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\">\n",
             width, height) +
         page_style +
         format("<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\"/>\n", width - 1,
                height - 1) +
         body + "</svg>\n";
}

std::string svg(const BarChart& chart) { return svg_page({draw(chart)}); }
std::string svg(const LineChart& chart) { return svg_page({draw(chart)}); }

}  // namespace lepus::plot

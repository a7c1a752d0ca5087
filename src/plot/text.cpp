// SPDX-License-Identifier: Apache-2.0
#include "plot/text.h"

#include <cmath>

#include "core/format.h"

namespace lepus::plot {

std::string three_digits(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  if (size >= 99.95 && size < 1e6) return format("{:.0f}", value);
  if (size >= 9.995 && size < 99.95) return format("{:.1f}", value);
  return format("{:.3g}", value);
}

std::string time_text(double seconds) {
  if (!(seconds > 0)) return "-";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds) + " s";
}

std::string rate_text(double rate, const std::string& unit) {
  return rate > 0 ? three_digits(rate) + " " + unit : std::string("-");
}

std::string share_text(double share) { return format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0); }

std::string times_text(double factor) { return three_digits(factor) + " x"; }

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  return out;
}

}  // namespace lepus::plot

// SPDX-License-Identifier: Apache-2.0
// Measured values as people read them: three digits, with the unit that keeps the number short.
#pragma once

#include <string>

namespace lepus::plot {

std::string three_digits(double value);                       // "0.0123", "1.23", "123", "1230", "1.2e-07"
std::string time_text(double seconds);                        // "12.3 ms"
std::string rate_text(double rate, const std::string& unit);  // "1.23 GUPS"
std::string share_text(double share);                         // "87 %"
std::string times_text(double factor);                        // "1.23 x"
std::string markdown_cell(const std::string& text);           // no bar ends the cell, no line end the row
std::string xml_text(const std::string& text);                // & < > " escaped, control characters gone

}  // namespace lepus::plot

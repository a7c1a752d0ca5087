// SPDX-License-Identifier: Apache-2.0
// Tables of Markdown: columns that no row fills are left out.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/report.h"

namespace lepus::measure {

class MarkdownTable {
public:
  explicit MarkdownTable(std::vector<std::string> heading);  // the first column is text, the others are set right
  void row(std::vector<std::string> cells);
  std::string text() const;

private:
  std::vector<std::vector<std::string>> rows_;  // the heading first
};

// Machine, program and command of each report, one column each.
std::string machine_table(const std::vector<const Report*>& reports, const std::vector<std::string>& names);

}  // namespace lepus::measure

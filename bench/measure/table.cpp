// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/table.h"

#include <cmath>

#include "core/format.h"
#include "core/memory.h"
#include "plot/text.h"

namespace lepus::measure {

using namespace plot;

MarkdownTable::MarkdownTable(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

void MarkdownTable::row(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string MarkdownTable::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<bool> filled(columns, false);
  for (std::size_t r = 1; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < columns; ++c)
      if (!rows_[r][c].empty()) filled[c] = true;
  filled[0] = true;
  const auto line = [&](const auto& cell) {
    std::string out = "|";
    for (std::size_t c = 0; c < columns; ++c)
      if (filled[c]) out += cell(c);
    return out + "\n";
  };
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    out += line([&](std::size_t c) { return " " + markdown_cell(rows_[r][c]) + " |"; });
    if (r == 0) out += line([&](std::size_t c) { return std::string(c == 0 ? "---|" : "---:|"); });
  }
  return out;
}

std::string machine_table(const std::vector<const Report*>& reports, const std::vector<std::string>& names) {
  std::vector<std::string> heading{""};
  heading.insert(heading.end(), names.begin(), names.end());
  MarkdownTable table(heading);
  const auto row = [&](const std::string& name, const auto& value) {
    std::vector<std::string> cells{name};
    bool any = false;
    for (const Report* r : reports) {
      cells.push_back(value(*r));
      any = any || !cells.back().empty();
    }
    if (any) table.row(cells);
  };
  const auto bytes = [](double b) { return b > 0 ? format_bytes(static_cast<std::int64_t>(b)) : std::string(); };
  row("CPU", [](const Report& r) { return r.machine.cpu; });
  row("threads", [](const Report& r) { return format("{}", r.machine.threads); });
  row("clock", [](const Report& r) {
    return r.machine.clock_hz > 0 ? format("{:.2f} GHz, measured", 1e-9 * r.machine.clock_hz) : std::string();
  });
  row("memory", [&](const Report& r) { return bytes(r.machine.memory_bytes); });
  row("GPU", [](const Report& r) { return r.machine.gpu; });
  row("its memory", [&](const Report& r) { return bytes(r.machine.gpu_memory_bytes); });
  row("driver", [](const Report& r) { return r.machine.driver; });
  row("system", [](const Report& r) { return r.machine.system; });
  row("lepus", [](const Report& r) { return r.version; });
  row("date", [](const Report& r) { return r.date; });
  row("command", [](const Report& r) { return r.command.empty() ? std::string() : "`" + r.command + "`"; });
  return table.text();
}

}  // namespace lepus::measure

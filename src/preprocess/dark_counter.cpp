// SPDX-License-Identifier: Apache-2.0
#include "preprocess/dark_counter.h"

#include <algorithm>
#include <limits>

#include "core/format.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {

DarkCounter::DarkCounter(const Normalisation& normalisation, const std::vector<std::int64_t>& left_out, PixelType type,
                         std::int64_t rows)
    : normalisation_(normalisation),
      type_(type),
      in_row_(static_cast<std::size_t>(rows)),
      in_column_(static_cast<std::size_t>(normalisation.columns)) {
  if (left_out.empty()) return;
  levels_.assign(static_cast<std::size_t>(rows * normalisation.columns), 0.0F);
  std::copy_n(normalisation.dark.data(), normalisation.dark.size(), levels_.begin());
  for (const std::int64_t pixel : left_out)
    levels_[static_cast<std::size_t>(pixel)] = -std::numeric_limits<float>::infinity();
}

void DarkCounter::record(std::int64_t row, const void* pixels) {
  const std::int64_t columns = normalisation_.columns;
  const float* all = !levels_.empty()                 ? levels_.data()
                     : normalisation_.dark.size() > 0 ? normalisation_.dark.data()
                                                      : nullptr;
  const float* levels = all ? all + row * columns : nullptr;
  const std::int64_t found = count_at_most(type_, pixels, columns, levels);
  if (found == 0) return;
  in_row_[static_cast<std::size_t>(row)].fetch_add(found, std::memory_order_relaxed);
  // Which columns is only a hint of the cause: rows that are dark from end to end say nothing about it.
  if (found == columns) return;
  std::vector<float> values(static_cast<std::size_t>(columns));
  convert_to_float(type_, pixels, columns, values.data());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] <= (levels ? levels[i] : 0.0F)) in_column_[i].fetch_add(1, std::memory_order_relaxed);
}

DarkPixels DarkCounter::found() const {
  DarkPixels sum;
  const auto most = [](const std::vector<std::atomic<std::int64_t>>& counts, std::int64_t& where, std::int64_t& count) {
    const auto largest = std::max_element(counts.begin(), counts.end(),
                                          [](const auto& a, const auto& b) { return a.load() < b.load(); });
    where = largest - counts.begin();
    count = largest->load();
  };
  for (const auto& count : in_row_) sum.pixels += count;
  most(in_row_, sum.row, sum.in_row);
  most(in_column_, sum.column, sum.in_column);
  return sum;
}

DarkCounter::Counts DarkCounter::counts() const {
  const auto of = [](const std::vector<std::atomic<std::int64_t>>& counts) {
    std::map<std::int64_t, std::int64_t> found;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (const std::int64_t count = counts[i]; count > 0) found[static_cast<std::int64_t>(i)] = count;
    return found;
  };
  return {of(in_row_), of(in_column_)};
}

void DarkCounter::add(const Counts& counts) {
  const auto to = [](std::vector<std::atomic<std::int64_t>>& sums, const std::map<std::int64_t, std::int64_t>& found) {
    for (const auto& [index, count] : found) {
      if (index < 0 || index >= static_cast<std::int64_t>(sums.size()))
        throw Error(ErrorKind::input, {.what = "the counts of dark pixels are of another detector",
                                       .where = {},
                                       .why = format("row or column {} of {}", index, sums.size()),
                                       .hint = "begin anew"});
      sums[static_cast<std::size_t>(index)] += count;
    }
  };
  to(in_row_, counts.in_row);
  to(in_column_, counts.in_column);
}

}  // namespace lepus

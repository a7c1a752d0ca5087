// SPDX-License-Identifier: Apache-2.0
#include "scan/frame_numbers.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "core/format.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

// "frames/img_0007_12.tif" as its numbers {"0007", "12"} and its shape "frames/img_#_#.tif", whatever the numbers are.
struct ShapedName {
  std::string shape;
  std::vector<std::string> numbers;
};

ShapedName shaped(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t stem = file.stem().string().size();
  ShapedName result{(file.parent_path() / "").string(), {}};
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < stem && name[end] >= '0' && name[end] <= '9') ++end;
    if (end > i) {
      result.numbers.push_back(name.substr(i, end - i));
      result.shape += '#';
      i = end;
    } else {
      result.shape += name[i++];
    }
  }
  return result;
}

std::int64_t value_of(const std::string& digits) { return digits.size() > 15 ? -1 : std::stoll(digits); }

// One number of all names of a series: its values in the order of the files, and by how much most of them grow.
struct Counter {
  std::size_t column = 0;
  std::vector<std::int64_t> values;
  std::int64_t step = 0;
  std::size_t usual_steps = 0;  // how many of the steps are `step`
};

Counter counter_of(const std::vector<const ShapedName*>& series, std::size_t column) {
  Counter counter{column, {}, 0, 0};
  std::map<std::int64_t, std::size_t> steps;
  for (const ShapedName* name : series) {
    counter.values.push_back(value_of(name->numbers[column]));
    if (counter.values.back() < 0) return {};
    if (counter.values.size() > 1) ++steps[counter.values.back() - *(counter.values.end() - 2)];
  }
  for (const auto& [step, times] : steps)
    if (times > counter.usual_steps) std::tie(counter.step, counter.usual_steps) = std::pair(step, times);
  return counter;
}

// The name with another number in one place; where other numbers vary too they are not known.
std::string with_number(const ShapedName& name, const std::vector<bool>& varies, std::size_t column,
                        std::int64_t number) {
  std::string text;
  std::size_t index = 0;
  for (const char c : name.shape) {
    if (c != '#' || index == name.numbers.size()) {
      text += c;
      continue;
    }
    const std::string& digits = name.numbers[index];
    text += index == column ? format("{:0{}}", number, digits.size()) : varies[index] ? "*" : digits;
    ++index;
  }
  return text;
}

// Numbers that were rounded, such as angles in whole degrees, skip one at every third or tenth place: no file is lost.
bool evenly_spaced(const std::vector<std::size_t>& gaps) {
  if (gaps.size() < 3) return false;
  std::size_t nearest = gaps[1] - gaps[0], farthest = nearest;
  for (std::size_t i = 2; i < gaps.size(); ++i) {
    nearest = std::min(nearest, gaps[i] - gaps[i - 1]);
    farthest = std::max(farthest, gaps[i] - gaps[i - 1]);
  }
  return farthest - nearest <= 1 + nearest / 10;  // halves may go either way
}

void look_at_numbers(const std::vector<const ShapedName*>& series, const std::vector<std::size_t>& where,
                     FrameNames& found) {
  const std::size_t columns = series.front()->numbers.size();
  std::vector<bool> varies(columns);
  for (std::size_t c = 0; c < columns; ++c)
    varies[c] = std::any_of(series.begin(), series.end(),
                            [&](const ShapedName* name) { return name->numbers[c] != series.front()->numbers[c]; });
  Counter counter;
  for (std::size_t c = 0; c < columns; ++c)
    if (varies[c])
      if (Counter here = counter_of(series, c); here.usual_steps > counter.usual_steps) counter = std::move(here);
  const std::size_t steps = series.size() - 1;
  if (counter.step <= 0 || 2 * counter.usual_steps <= steps) return;

  std::vector<std::size_t> gaps;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::int64_t step = counter.values[i + 1] - counter.values[i];
    if (step == 0 && !found.same_number) found.same_number = {where[i], where[i + 1]};
    if (step >= 2 * counter.step) gaps.push_back(i);
  }
  constexpr std::size_t names_kept = 100;
  if (!evenly_spaced(gaps))
    for (const std::size_t i : gaps)
      for (std::int64_t n = counter.values[i] + counter.step;
           n < counter.values[i + 1] && found.missing.size() < names_kept; n += counter.step)
        found.missing.push_back(with_number(*series[i], varies, counter.column, n));
  found.nearly_whole = gaps.size() <= std::max<std::size_t>(1, series.size() / 10);
  if (counter.values.front() >= counter.step)
    found.previous = with_number(*series.front(), varies, counter.column, counter.values.front() - counter.step);
  found.next = with_number(*series.back(), varies, counter.column, counter.values.back() + counter.step);
}

// Names that are sorted by their digits alone: "-10" after "-1", "0.25" after "0.5".
std::string doubtful_order(const std::vector<const ShapedName*>& series, const std::set<std::string>& shapes) {
  for (const std::string& shape : shapes)
    if (const std::size_t sign = shape.find("-#"); sign != std::string::npos) {
      const std::string rest = shape.substr(sign + 1);
      for (const std::string& other : {shape.substr(0, sign) + rest, shape.substr(0, sign) + "+" + rest})
        if (shapes.contains(other))
          return format("names with a minus sign ({}) are sorted by their digits, so that -10 comes after -1",
                        fs::path(shape).filename().string());
    }
  const std::size_t point = series.front()->shape.find("#.#");
  if (point == std::string::npos) return {};
  const auto column =
      static_cast<std::size_t>(
          std::count(series.front()->shape.begin(), series.front()->shape.begin() + static_cast<long>(point), '#')) +
      1;
  for (const ShapedName* name : series)
    if (name->numbers[column].size() != series.front()->numbers[column].size())
      return format("names with a decimal point ({}) are sorted by whole numbers, so that 0.25 comes after 0.5",
                    fs::path(series.front()->shape).filename().string());
  return {};
}

std::string joined_kinds(const std::set<std::string>& shapes) {
  std::string kinds;
  for (const auto& shape : shapes) kinds += (kinds.empty() ? "" : ", ") + fs::path(shape).filename().string();
  return kinds;
}

FrameNames look_at_folder(const std::vector<fs::path>& files) {
  FrameNames found;
  if (files.size() < 3 || std::adjacent_find(files.begin(), files.end()) != files.end()) return found;
  std::vector<ShapedName> names;
  names.reserve(files.size());
  std::map<std::string, std::size_t> count;
  for (const auto& file : files) {
    names.push_back(shaped(file));
    ++count[names.back().shape];
  }
  const auto main =
      std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (main->second < 3 || main->first.find('#') == std::string::npos) return found;

  // Kinds of names that are many are series of their own (two parts of a scan), as long as each is in one piece.
  const auto are_few = [&](std::size_t n) { return 2 * n < main->second && (n < 10 || 10 * n < main->second); };
  std::vector<std::size_t> of_series;
  std::set<std::string> kinds;
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (are_few(count[names[i].shape])) {
      found.unlike.push_back(i);
      continue;
    }
    if (of_series.empty() || names[i].shape != names[of_series.back()].shape) ++pieces;
    kinds.insert(names[i].shape);
    of_series.push_back(i);
  }
  if (pieces > kinds.size())
    found.mixed = format("names of {} kinds take turns ({})", kinds.size(), joined_kinds(kinds));

  std::vector<const ShapedName*> series;
  std::erase_if(of_series, [&](std::size_t i) { return names[i].shape != main->first; });
  series.reserve(of_series.size());
  for (const std::size_t i : of_series) series.push_back(&names[i]);
  found.usual = files[of_series.front()].filename().string();
  const auto holds_name_of_another = [&](std::size_t stray) {
    const std::string stem = files[stray].stem().string();
    return std::any_of(of_series.begin(), of_series.end(),
                       [&](std::size_t i) { return stem.find(files[i].stem().string()) != std::string::npos; });
  };
  std::copy_if(found.unlike.begin(), found.unlike.end(), std::back_inserter(found.copies), holds_name_of_another);
  if (found.mixed.empty()) found.mixed = doubtful_order(series, kinds);
  look_at_numbers(series, of_series, found);
  return found;
}

}  // namespace

FrameNames look_at_names(const std::vector<fs::path>& files) {
  FrameNames all;
  bool whole = true;  // every folder but for a few files
  for (auto begin = files.begin(); begin != files.end();) {
    const auto end = std::find_if(begin, files.end(),
                                  [&](const fs::path& file) { return file.parent_path() != begin->parent_path(); });
    FrameNames part = look_at_folder({begin, end});
    if (begin == files.begin() && end == files.end()) return part;
    const auto offset = static_cast<std::size_t>(begin - files.begin());
    for (const std::size_t i : part.unlike) all.unlike.push_back(i + offset);
    for (const std::size_t i : part.copies) all.copies.push_back(i + offset);
    if (part.same_number) all.same_number = {part.same_number->first + offset, part.same_number->second + offset};
    if (!part.missing.empty()) whole = whole && part.nearly_whole;
    all.missing.insert(all.missing.end(), part.missing.begin(), part.missing.end());
    if (all.usual.empty()) all.usual = part.usual;
    if (all.mixed.empty()) all.mixed = part.mixed;
    begin = end;
  }
  all.nearly_whole = whole;
  return all;
}

void leave_out(FrameNames& names, const std::vector<fs::path>& files) {
  std::set<std::string> known;
  for (const auto& file : files) known.insert(file.filename().string());
  std::erase_if(names.missing, [&](const fs::path& file) { return known.contains(file.filename().string()); });
}

std::vector<std::size_t> out_of_time(const std::vector<double>& written_s) {
  const std::size_t n = written_s.size();
  if (n < 5) return {};
  // The longest part of the series that was written in order: `ends[k]` is the file that ends a part of k + 1 files and
  // was written earliest.
  std::vector<std::size_t> ends, before(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = std::upper_bound(ends.begin(), ends.end(), written_s[i],
                                     [&](double t, std::size_t j) { return t < written_s[j]; });
    if (at != ends.begin()) before[i] = *(at - 1);
    if (at == ends.end())
      ends.push_back(i);
    else
      *at = i;
  }
  std::vector<bool> in_order(n);
  for (std::size_t i = ends.back(); i < n; i = before[i]) in_order[i] = true;
  const auto first = static_cast<std::size_t>(std::find(in_order.begin(), in_order.end(), true) - in_order.begin());
  const double begin = written_s[first], end = written_s[ends.back()];
  if (end <= begin || n - ends.size() > std::max<std::size_t>(1, n / 50)) return {};
  // Two frames that were written at once may change places: only what lies far outside the whole series tells anything.
  const double margin_s = std::max(2.0, 10 * (end - begin) / static_cast<double>(ends.size() - 1));
  std::vector<std::size_t> outside;
  for (std::size_t i = 0; i < n; ++i) {
    if (in_order[i]) continue;
    if (written_s[i] <= end + margin_s && written_s[i] >= begin - margin_s) return {};
    outside.push_back(i);
  }
  return outside;
}

std::vector<std::size_t> out_of_time(const std::vector<fs::path>& files) {
  if (std::adjacent_find(files.begin(), files.end()) != files.end()) return {};
  std::vector<double> written_s;
  for (const auto& file : files) {
    std::error_code code;
    const auto time = fs::last_write_time(file, code);
    if (code) return {};
    written_s.push_back(std::chrono::duration<double>(time.time_since_epoch()).count());
  }
  return out_of_time(written_s);
}

std::string explain_count(const FrameNames& names, const std::vector<fs::path>& files, std::int64_t expected) {
  const auto count = static_cast<std::int64_t>(files.size());
  if (count > expected && !names.unlike.empty())
    return format("{} is named unlike the others ({}): leave it out", files[names.unlike.front()].filename().string(),
                  names.usual);
  if (count > expected && names.same_number)
    return format("{} and {} have the same number: leave one out", files[names.same_number->first].filename().string(),
                  files[names.same_number->second].filename().string());
  if (count >= expected) return {};
  if (!names.missing.empty())
    return format("{}{} missing", names.missing.front(),
                  names.missing.size() > 1 ? format(" and {} more are", names.missing.size() - 1) : " is");
  if (names.next.empty()) return {};
  // No gap: what is missing came first or last, and only a numbering that begins with 0 tells which.
  const std::string last =
      expected - count == 1 ? names.next + " is missing" : names.next + " and those after it are missing";
  return names.previous.empty() ? last : format("{}, or {}", last, names.previous);
}

}  // namespace lepus

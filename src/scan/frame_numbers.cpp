// SPDX-License-Identifier: Apache-2.0
#include "scan/frame_numbers.h"

#include <algorithm>
#include <cstdint>

#include "core/format.h"

namespace lepus {
namespace {

// "frames/img_0007.tif" as "frames/img_", 7, ".tif", four digits.
struct NumberedName {
  std::string before, after;
  std::int64_t number = -1;  // -1: the name has no number, or one that is too long to be a counter
  std::size_t digits = 0;
};

NumberedName numbered(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  constexpr const char* digits = "0123456789";
  const auto stem = file.stem().string().find_last_of(digits);
  if (stem == std::string::npos) return {};
  const auto before = name.find_last_not_of(digits, stem);
  const std::size_t first = before == std::string::npos ? 0 : before + 1, count = stem + 1 - first;
  if (count > 15) return {};
  return {(file.parent_path() / name.substr(0, first)).string(), name.substr(stem + 1),
          std::stoll(name.substr(first, count)), count};
}

}  // namespace

std::string missing_in_series(const std::vector<std::filesystem::path>& files) {
  if (files.size() < 3) return {};
  std::vector<NumberedName> names;
  for (const auto& file : files) {
    names.push_back(numbered(file));
    if (names.back().number < 0 || names.back().before != names.front().before ||
        names.back().after != names.front().after)
      return {};
  }
  std::vector<std::int64_t> steps;
  for (std::size_t i = 1; i < names.size(); ++i) steps.push_back(names[i].number - names[i - 1].number);
  const std::int64_t usual = *std::min_element(steps.begin(), steps.end());
  const auto odd = std::find_if(steps.begin(), steps.end(), [&](std::int64_t step) { return step != usual; });
  const auto unusual = static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [&](std::int64_t step) { return step != usual; }));
  if (usual <= 0 || odd == steps.end() || 10 * unusual > files.size()) return {};
  const NumberedName& last = names[static_cast<std::size_t>(odd - steps.begin())];
  return format("{}{:0{}}{}", last.before, last.number + usual, last.digits, last.after);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <numeric>

#include "core/format.h"

namespace lepus {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j)
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view typed, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, (typed.size() + 2) / 3) + 1;
  for (const auto& candidate : candidates)
    if (const auto distance = edit_distance(typed, candidate); distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  return best;
}

std::string shown(std::string_view typed) {
  constexpr std::size_t longest = 80;
  return typed.size() <= longest ? std::string(typed) : std::string(typed.substr(0, longest)) + "...";
}

std::string expected_time(double seconds) {
  const auto rounded = [](double s) { return s < 100 ? format("{:.2g}", s) : format("{:.0f}", s); };
  return format("{} to {} s", rounded(0.7 * seconds), rounded(1.5 * seconds));
}

std::string hint_for_errno(int code, const std::string& usual) {
  switch (code) {
    case EMFILE:
    case ENFILE:
      return "too many files are open: raise the limit (ulimit -n), or close other programs";
    case ENOMEM:
      return "close other programs: the system has no memory left";
    case ENOSPC:
    case EDQUOT:
      return "free some space or write to another disk";
    case EFBIG:
      return "raise the limit (ulimit -f)";
    case EROFS:
      return "this disk cannot be written: choose another";
    case ELOOP:
      return "links lead in a circle here: name the file itself";
    case ENAMETOOLONG:
      return "give a shorter name";
    default:
      return usual;
  }
}

}  // namespace lepus

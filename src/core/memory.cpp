// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// The value in bytes of a "Name:   123 kB" line of a file under /proc; -1 where there is none.
std::int64_t proc_field(const char* file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name)) {
      std::istringstream rest(line.substr(name.size()));
      std::int64_t kib = 0;
      if (rest >> kib) return kib * 1024;
    }
  return -1;
}

// A single number in a file ("max" and absent files mean no limit).
std::int64_t number_in(const char* file) {
  std::ifstream in(file);
  std::int64_t value = 0;
  return in >> value ? value : std::numeric_limits<std::int64_t>::max();
}

std::int64_t cgroup_headroom() {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
  return limit == none || used == none ? none : std::max<std::int64_t>(0, limit - used);
}

}  // namespace

std::int64_t available_memory_bytes() {
  const std::int64_t system = proc_field("/proc/meminfo", "MemAvailable:");
  const std::int64_t known = system >= 0 ? system : std::int64_t{2} << 30;
  return std::min(known, cgroup_headroom());
}

std::int64_t resident_bytes() { return std::max<std::int64_t>(0, proc_field("/proc/self/status", "VmRSS:")); }
std::int64_t peak_resident_bytes() { return std::max<std::int64_t>(0, proc_field("/proc/self/status", "VmHWM:")); }

std::int64_t enough_mebibytes(std::int64_t needed_bytes) { return (needed_bytes >> 20) + 4; }

std::int64_t parse_bytes(std::string_view text) {
  const auto bad = [&](const char* why) {
    return Error(ErrorKind::usage, {.what = format("'{}' is not an amount of memory", text),
                                    .where = {},
                                    .why = why,
                                    .hint = "write a number and a unit, for example 4GiB or 800MB"});
  };
  double value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || !(value > 0)) throw bad("it does not start with a positive number");
  std::string unit(rest, text.data() + text.size());
  std::erase_if(unit, [](unsigned char c) { return std::isspace(c); });
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  struct Unit {
    std::string_view name;
    double factor;
  };
  static constexpr std::array<Unit, 14> units{{{"", 1},
                                               {"b", 1},
                                               {"k", 1024.0},
                                               {"kb", 1e3},
                                               {"kib", 1024.0},
                                               {"m", 0x1p20},
                                               {"mb", 1e6},
                                               {"mib", 0x1p20},
                                               {"g", 0x1p30},
                                               {"gb", 1e9},
                                               {"gib", 0x1p30},
                                               {"t", 0x1p40},
                                               {"tb", 1e12},
                                               {"tib", 0x1p40}}};
  const auto* found = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit; });
  if (found == units.end()) throw bad("the unit is unknown");
  const double bytes = value * found->factor;
  if (!(bytes >= 1 && bytes < 0x1p62)) throw bad("no machine has so much, or so little");
  return static_cast<std::int64_t>(std::llround(bytes));
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < names.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? format("{} B", bytes) : format("{:.1f} {}", value, names[unit]);
}

namespace detail {

void* allocate_aligned(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  const std::size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  void* p = std::aligned_alloc(alignment, rounded);
  if (!p)
    throw Error(ErrorKind::memory,
                {.what = format("could not allocate {}", format_bytes(static_cast<std::int64_t>(bytes))),
                 .where = {},
                 .why = format("{} are available", format_bytes(available_memory_bytes())),
                 .hint = "give a lower limit with --memory"});
  return p;
}

void free_aligned(void* p) noexcept { std::free(p); }

}  // namespace detail
}  // namespace lepus

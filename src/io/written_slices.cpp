// SPDX-License-Identifier: Apache-2.0
#include "io/written_slices.h"

#include <algorithm>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {

namespace {

[[noreturn]] void refuse_slices(const std::string& where, const char* what, std::string why) {
  throw Error(ErrorKind::internal, {.what = what, .where = where, .why = std::move(why), .hint = "report this"});
}

}  // namespace

WrittenSlices::WrittenSlices(std::int64_t slices, std::string where)
    : slices_(static_cast<std::size_t>(slices), Slice::missing), where_(std::move(where)) {}

void WrittenSlices::require_inside(std::int64_t z0, std::int64_t z1) const {
  const auto count = static_cast<std::int64_t>(slices_.size());
  if (z0 < 0 || z1 < z0 || z1 > count)
    refuse_slices(where_, "slices outside the volume were written", format("[{}, {}) of {}", z0, z1, count));
}

void WrittenSlices::begin(std::int64_t z0, std::int64_t z1) {
  require_inside(z0, z1);
  const std::scoped_lock lock(mutex_);
  const auto first = slices_.begin() + z0, last = slices_.begin() + z1;
  const auto twice = std::find_if(first, last, [](Slice slice) { return slice != Slice::missing; });
  if (twice != last)
    refuse_slices(where_, "a slice was written twice",
                  format("slice {} of {}", twice - slices_.begin(), slices_.size()));
  std::fill(first, last, Slice::begun);
}

void WrittenSlices::add(std::int64_t z0, std::int64_t z1) {
  require_inside(z0, z1);
  const std::scoped_lock lock(mutex_);
  const auto first = slices_.begin() + z0, last = slices_.begin() + z1;
  if (std::find(first, last, Slice::begun) != last)
    refuse_slices(where_, "slices are written here and elsewhere", format("[{}, {}) of {}", z0, z1, slices_.size()));
  std::fill(first, last, Slice::written);
}

void WrittenSlices::give_back(std::int64_t z0, std::int64_t z1) {
  const std::scoped_lock lock(mutex_);
  std::fill(slices_.begin() + z0, slices_.begin() + z1, Slice::missing);
}

void WrittenSlices::end(std::int64_t z0, std::int64_t z1) {
  const std::scoped_lock lock(mutex_);
  std::fill(slices_.begin() + z0, slices_.begin() + z1, Slice::written);
}

void WrittenSlices::check_complete() const {
  const std::scoped_lock lock(mutex_);
  const auto written = std::count(slices_.begin(), slices_.end(), Slice::written);
  if (written == static_cast<std::int64_t>(slices_.size())) return;
  constexpr int named = 8;  // ranges; a message is for people
  std::string missing;
  int ranges = 0;
  for (auto first = slices_.begin(); first != slices_.end();) {
    first = std::find_if(first, slices_.end(), [](Slice slice) { return slice != Slice::written; });
    if (first == slices_.end()) break;
    const auto last = std::find(first, slices_.end(), Slice::written);
    const std::int64_t a = first - slices_.begin(), b = last - slices_.begin() - 1;
    if (++ranges <= named)
      missing += (missing.empty() ? "" : ", ") + (a == b ? format("{}", a) : format("{}-{}", a, b));
    first = last;
  }
  if (ranges > named) missing += ", ...";
  throw Error(ErrorKind::internal,
              {.what = "the volume is finished before all its slices are written",
               .where = where_,
               .why = format("{} of {} slices are there, {} missing", written, slices_.size(), missing),
               .hint = "report this"});
}

}  // namespace lepus

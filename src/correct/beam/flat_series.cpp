// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/flat_series.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_flats(std::string what, std::string why) {
  throw Error(ErrorKind::input, {.what = std::move(what),
                                 .where = "flats",
                                 .why = std::move(why),
                                 .hint = "give every set of flats the view before which it was taken"});
}

}  // namespace

FlatSeries::FlatSeries(std::int64_t columns, std::int64_t rows, std::int64_t views, std::vector<double> positions,
                       std::vector<Buffer<float>> flats)
    : columns_(columns), rows_(rows), views_(views), positions_(std::move(positions)) {
  if (flats.empty()) refuse_flats("no flats", "the open beam cannot be known without one");
  if (positions_.size() != flats.size())
    refuse_flats(format("{} positions for {} sets of flats", positions_.size(), flats.size()), "");
  const std::int64_t pixels = columns * rows;
  for (std::size_t i = 0; i < flats.size(); ++i) {
    if (!std::isfinite(positions_[i]) || (i > 0 && !(positions_[i] > positions_[i - 1])))
      refuse_flats(format("the position {} of set {}", positions_[i], i), "positions must ascend");
    if (flats[i].size() != pixels)
      refuse_flats(format("set {} has {} pixels", i, flats[i].size()), format("frames have {}", pixels));
    if (!std::all_of(flats[i].begin(), flats[i].end(), [](float v) { return std::isfinite(v); }))
      refuse_flats(format("set {} holds NaN or infinity", i), "");
  }
  flats_ = Buffer<float>(pixels * count());
  for (std::size_t i = 0; i < flats.size(); ++i) {
    std::copy(flats[i].begin(), flats[i].end(), flats_.data() + static_cast<std::int64_t>(i) * pixels);
    flats[i] = {};
  }
}

FlatShare FlatSeries::share(std::int64_t view) const {
  const double at = static_cast<double>(view) + 0.5;
  const auto next = std::upper_bound(positions_.begin(), positions_.end(), at);
  const auto last = static_cast<std::int32_t>(positions_.size() - 1);
  if (next == positions_.begin()) return {0, 0, 0};
  if (next == positions_.end()) return {last, last, 0};
  const auto after = static_cast<std::int32_t>(next - positions_.begin());
  const double from = *(next - 1);
  return {after - 1, after, static_cast<float>((at - from) / (*next - from))};
}

std::vector<FlatShare> FlatSeries::shares() const {
  std::vector<FlatShare> all;
  for (std::int64_t view = 0; view < views_; ++view) all.push_back(share(view));
  return all;
}

double interpolated_flat_reference(const std::vector<double>& positions, const std::vector<double>& values,
                                   std::int64_t view) {
  const double at = static_cast<double>(view) + 0.5;
  if (at <= positions.front()) return values.front();
  for (std::size_t i = 1; i < positions.size(); ++i)
    if (at < positions[i])
      return values[i - 1] + (values[i] - values[i - 1]) * (at - positions[i - 1]) / (positions[i] - positions[i - 1]);
  return values.back();
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "project/ring_options.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace rings {

FilterOptions trend_filter(const RingOptions& options) {
  FilterOptions filter;
  filter.kind = options.filter;
  filter.radius = options.radius;
  filter.sigma = options.sigma;
  filter.sigma_value = options.sigma_value;
  filter.border = FilterBorder::partial;
  return filter;
}

FilterOptions sorted_filter(std::int64_t size) {
  FilterOptions filter;
  filter.kind = FilterKind::median;
  filter.radius = size / 2;
  filter.border = FilterBorder::mirror;
  return filter;
}

Planes part_of(const Planes& sinograms, std::int64_t first, std::int64_t count) {
  Planes part = sinograms;
  part.data = sinograms.row(first, 0);
  part.count = std::min(count, sinograms.count - first);
  return part;
}

namespace {

[[noreturn]] void unusable(std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = "ring removal", .why = std::move(why), .hint = std::move(hint)});
}

void check_size(const char* name, std::int64_t size, std::int64_t columns) {
  if (size < 3 || size % 2 == 0)
    unusable(format("{} = {}", name, size), "the window must have a middle column and others beside it",
             "give an odd number from 3 up");
  if (size / 2 >= columns)
    unusable(format("{} = {} columns in rows of {}", name, size, columns), "the window reaches past the whole row",
             format("at most {}", 2 * columns - 1));
}

}  // namespace
}  // namespace rings

std::string name_of(RingMethod method) {
  switch (method) {
    case RingMethod::trend:
      return "trend";
    case RingMethod::wavelet_fourier:
      return "wavelet-fourier";
    case RingMethod::sorting:
      return "sorting";
    case RingMethod::combined:
      return "combined";
  }
  return "";
}

RingOptions default_windows(std::int64_t columns) {
  RingOptions options;
  const double scale = std::min(1.0, static_cast<double>(columns) / 1024);
  const auto scaled = [&](std::int64_t at_1024, std::int64_t least) {
    return std::max<std::int64_t>(least, std::lround(static_cast<double>(at_1024) * scale));
  };
  options.radius = scaled(options.radius, 5);
  options.sigma = static_cast<double>(options.radius) / 3;
  options.small_size = 2 * scaled(options.small_size / 2, 3) + 1;
  options.large_size = 2 * scaled(options.large_size / 2, 7) + 1;
  options.levels = std::max(2, options.levels + static_cast<int>(std::floor(std::log2(scale))));
  return options;
}

void check_rings(const RingOptions& options, std::int64_t columns, std::int64_t views) {
  if (columns < 1 || views < 1) rings::unusable(format("a sinogram of {} x {}", columns, views), "it is empty", "");
  if (options.iterations < 0)
    rings::unusable(format("{} iterations", options.iterations), "there cannot be fewer than none", "");
  switch (options.method) {
    case RingMethod::trend:
      if (options.filter != FilterKind::median && options.filter != FilterKind::bilateral)
        rings::unusable("a trend filter that is neither median nor bilateral", "edges would count as rings", "");
      check_filter(rings::trend_filter(options), columns, views, 1);
      break;
    case RingMethod::wavelet_fourier:
      if (options.wavelet < 1 || options.wavelet > 10)
        rings::unusable(format("Daubechies' wavelet of {} moments", options.wavelet), "lepus has those of 1 to 10", "");
      if (options.levels < 1 || options.levels > 30 || (std::int64_t{1} << options.levels) > columns)
        rings::unusable(format("{} wavelet levels on rows of {} columns", options.levels, columns),
                        "each level halves the row", "give fewer levels: 2^levels must not exceed the columns");
      if (!(options.damping_sigma > 0))
        rings::unusable(format("a damping width of {}", options.damping_sigma), "it must be positive", "");
      break;
    case RingMethod::combined:
      rings::check_size("large_px", options.large_size, columns);
      if (!(options.snr > 0)) rings::unusable(format("snr = {}", options.snr), "it must be positive", "");
      [[fallthrough]];
    case RingMethod::sorting:
      rings::check_size("small_px", options.small_size, columns);
  }
}

}  // namespace lepus

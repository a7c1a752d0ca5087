// SPDX-License-Identifier: Apache-2.0
#include "simulate/detector.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/format.h"
#include "simulate/random.h"
#include "simulate/streams.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void require(bool good, const char* where, double value, const char* hint) {
  if (!good)
    throw Error(
        ErrorKind::usage,
        {.what = "detector setting out of range", .where = where, .why = format("it is {}", value), .hint = hint});
}

// `count` different places out of [0, places), each as likely as the others.
std::vector<std::int64_t> draw_places(std::int64_t count, std::int64_t places, std::uint64_t seed,
                                      std::uint32_t stream) {
  std::vector<std::int64_t> drawn;
  Random random(seed, stream, 0, 0);
  while (static_cast<std::int64_t>(drawn.size()) < count) {
    const auto p = std::min(places - 1, static_cast<std::int64_t>(random.uniform() * static_cast<double>(places)));
    const auto at = std::lower_bound(drawn.begin(), drawn.end(), p);
    if (at == drawn.end() || *at != p) drawn.insert(at, p);
  }
  return drawn;
}

}  // namespace

void check(const SimulatedDetector& o, std::int64_t columns, std::int64_t rows) {
  const std::int64_t pixels = columns * rows;
  require(o.photons >= 0 && o.photons <= 1e15, "photons", o.photons, "give 0 (no noise) or a number of photons");
  require(o.bits >= 1 && o.bits <= 16, "bits", o.bits, "give 1 to 16");
  require(o.open_level > 0 && o.open_level <= 1e6, "open level", o.open_level, "give grey levels above zero");
  require(o.offset_level >= 0 && o.offset_level <= 65535, "offset level", o.offset_level, "give 0 to 65535");
  require(o.gain_spread >= 0 && o.gain_spread < 0.3, "gain spread", o.gain_spread, "give a fraction below 0.3");
  require(o.offset_spread >= 0 && o.offset_spread <= 65535, "offset spread", o.offset_spread,
          "give grey levels, not negative");
  require(o.dark_current >= 0 && o.dark_current <= 65535, "dark current", o.dark_current, "give 0 to 65535");
  require(o.electronic_noise >= 0 && o.electronic_noise <= 65535, "electronic noise", o.electronic_noise,
          "give grey levels, not negative");
  require(o.beam_drift > -1 && std::isfinite(o.beam_drift), "beam drift", o.beam_drift, "give a fraction above -1");
  require(o.beam_flicker >= 0 && o.beam_flicker < 0.3, "beam flicker", o.beam_flicker, "give a fraction below 0.3");
  require(o.hot_pixels >= 0 && o.hot_pixels <= pixels / 2, "hot pixels", static_cast<double>(o.hot_pixels),
          "give at most half of the pixels");
  require(o.dead_pixels >= 0 && o.dead_pixels <= pixels / 2, "dead pixels", static_cast<double>(o.dead_pixels),
          "give at most half of the pixels");
  require(o.dead_columns >= 0 && o.dead_columns <= columns / 2, "dead columns", static_cast<double>(o.dead_columns),
          "give at most half of the columns");
}

Detector::Detector(std::int64_t columns, std::int64_t rows, const SimulatedDetector& options)
    : columns_(columns), rows_(rows), options_(options) {
  check(options, columns, rows);
  const std::int64_t pixels = columns * rows;
  const auto n = static_cast<std::size_t>(pixels);
  offset_.assign(n, static_cast<float>(options.offset_level));
  if (options.gain_spread > 0) {
    gain_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      gain_[i] = static_cast<float>(
          std::max(0.01, 1 + options.gain_spread * Random(options.seed, streams::gain, 0, i).normal()));
  }
  if (options.offset_spread > 0)
    for (std::size_t i = 0; i < n; ++i)
      offset_[i] += static_cast<float>(options.offset_spread * Random(options.seed, streams::offset, 0, i).normal());
  state_.assign(n, State::good);
  dead_columns_ = draw_places(options.dead_columns, columns, options.seed, streams::dead_columns);
  for (const std::int64_t column : dead_columns_)
    for (std::int64_t row = 0; row < rows; ++row)
      state_[static_cast<std::size_t>(row * columns + column)] = State::dead;
  dead_ = draw_places(options.dead_pixels, pixels, options.seed, streams::dead_pixels);
  for (const std::int64_t p : dead_) state_[static_cast<std::size_t>(p)] = State::dead;
  hot_ = draw_places(options.hot_pixels, pixels, options.seed, streams::hot_pixels);
  for (const std::int64_t p : hot_) state_[static_cast<std::size_t>(p)] = State::hot;
}

double Detector::beam(std::int64_t view, std::int64_t views) const {
  const double share = views > 1 ? static_cast<double>(view) / static_cast<double>(views - 1) : 0;
  double level = 1 + options_.beam_drift * share;
  if (options_.beam_flicker > 0)
    level *= std::max(0.01, 1 + options_.beam_flicker *
                                    Random(options_.seed, streams::beam, 0, static_cast<std::uint64_t>(view)).normal());
  return level;
}

std::int64_t Detector::expose(Exposure kind, std::int64_t index, double beam, const float* line_integrals,
                              std::uint16_t* levels, ThreadPool& threads) const {
  const std::uint32_t stream = kind == Exposure::view   ? streams::view_noise
                               : kind == Exposure::flat ? streams::flat_noise
                                                        : streams::dark_noise;
  const auto highest = static_cast<double>(highest_level());
  std::vector<std::int64_t> saturated(static_cast<std::size_t>(threads.size()), 0);
  threads.parallel_for(0, rows_, 4, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t p = begin * columns_; p < end * columns_; ++p) {
      const auto i = static_cast<std::size_t>(p);
      if (state_[i] == State::hot) {
        levels[p] = static_cast<std::uint16_t>(highest);
        continue;
      }
      Random random(options_.seed, stream, static_cast<std::uint32_t>(index), i);
      double level = offset_[i];
      if (kind != Exposure::dark && state_[i] == State::good) {
        double transmitted = beam;
        if (kind == Exposure::view) transmitted *= std::exp(-static_cast<double>(line_integrals[p]));
        if (options_.photons > 0)
          transmitted = static_cast<double>(random.poisson(options_.photons * transmitted)) / options_.photons;
        level += (gain_.empty() ? 1.0 : static_cast<double>(gain_[i])) * options_.open_level * transmitted;
      }
      if (options_.dark_current > 0) level += static_cast<double>(random.poisson(options_.dark_current));
      if (options_.electronic_noise > 0) level += options_.electronic_noise * random.normal();
      level = std::floor(level + 0.5);
      if (level > highest) ++saturated[static_cast<std::size_t>(worker)];
      levels[p] = static_cast<std::uint16_t>(std::clamp(level, 0.0, highest));
    }
  });
  std::int64_t total = 0;
  for (const std::int64_t s : saturated) total += s;
  return total;
}

}  // namespace lepus

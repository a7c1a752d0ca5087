// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/choose_method.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/format.h"
#include "core/memory.h"
#include "correct/rings/ring_energy.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct Change {
  double all = 0, varying = 0;  // sums of squares
};

// Of one sinogram; `before` also says which columns are broken: replacing those may well vary from view to view.
Change change_of(const Planes& before, const Planes& after, std::int64_t plane) {
  const StripeProfile profile = stripe_profile(before, plane, ring_energy_radius(before.width));
  const auto broken = [&](std::int64_t x) {
    for (std::int64_t k = std::max<std::int64_t>(x - 1, 0); k <= std::min(x + 1, before.width - 1); ++k)
      if (profile.unusual[static_cast<std::size_t>(k)]) return true;
    return false;
  };
  Change change;
  for (std::int64_t x = 0; x < before.width; ++x) {
    double sum = 0, squares = 0;
    for (std::int64_t y = 0; y < before.height; ++y) {
      const double d = static_cast<double>(after.row(plane, y)[x]) - static_cast<double>(before.row(plane, y)[x]);
      sum += d;
      squares += d * d;
    }
    change.all += squares;
    if (!broken(x)) change.varying += squares - sum * sum / static_cast<double>(before.height);
  }
  return change;
}

}  // namespace

RingChoice choose_ring_method(const Planes& sinograms, const RingOptions& parameters, ThreadPool& threads) {
  const std::int64_t size = sinograms.width * sinograms.height;
  double squares = 0;
  for (std::int64_t plane = 0; plane < sinograms.count; ++plane)
    for (std::int64_t y = 0; y < sinograms.height; ++y)
      for (std::int64_t x = 0; x < sinograms.width; ++x) {
        const auto value = static_cast<double>(sinograms.row(plane, y)[x]);
        squares += value * value;
      }
  squares = std::max(squares, std::numeric_limits<double>::min());
  const double before = ring_energy(sinograms, threads).total();

  RingChoice choice;
  std::string why_not;
  Buffer<float> memory(sinograms.count * size);
  const Planes copy{memory.data(), sinograms.width, sinograms.height, sinograms.width, sinograms.count, size};
  for (const RingMethod method :
       {RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting, RingMethod::combined}) {
    RingTrial trial{parameters, 0, 0, 0};
    trial.options.method = method;
    try {
      check_rings(trial.options, sinograms.width, sinograms.height);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      why_not = error.what();
      continue;
    }
    for (std::int64_t plane = 0; plane < sinograms.count; ++plane)
      for (std::int64_t y = 0; y < sinograms.height; ++y)
        std::copy_n(sinograms.row(plane, y), sinograms.width, copy.row(plane, y));
    remove_rings(copy, trial.options, threads);
    Change change;
    for (std::int64_t plane = 0; plane < sinograms.count; ++plane) {
      const Change one = change_of(sinograms, copy, plane);
      change.all += one.all;
      change.varying += one.varying;
    }
    trial.left_db = decibels(ring_energy(copy, threads).total(), before);
    trial.change = std::sqrt(change.all / squares);
    trial.disturbed = std::sqrt(std::max(change.varying, 0.0) / squares);
    choice.trials.push_back(trial);
  }
  if (choice.trials.empty())
    throw Error(ErrorKind::usage, {.what = "no method of ring removal fits these sinograms",
                                   .where = format("{} columns x {} views", sinograms.width, sinograms.height),
                                   .why = why_not,
                                   .hint = "give smaller windows"});

  const bool any_gentle = std::any_of(choice.trials.begin(), choice.trials.end(),
                                      [](const RingTrial& t) { return t.disturbed < most_disturbed; });
  const auto admitted = [&](const RingTrial& t) { return !any_gentle || t.disturbed < most_disturbed; };
  double least = std::numeric_limits<double>::infinity();
  for (const RingTrial& t : choice.trials)
    if (admitted(t)) least = std::min(least, t.left_db);
  const RingTrial* chosen = nullptr;
  for (const RingTrial& t : choice.trials)
    if (admitted(t) && t.left_db <= least + 1 && (!chosen || t.change < chosen->change)) chosen = &t;
  choice.options = chosen->options;
  return choice;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/choose_method.h"

#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus {
namespace {

double balance(const RingTrial& trial) { return trial.verdict.won - trial.verdict.lost; }

// Whether the slice would be better.
bool helps(const RingTrial& trial) {
  const rings::RingVerdict& v = trial.verdict;
  constexpr double halved_db = -3;
  return v.won > 2 * v.lost && v.left_db <= halved_db && v.risen <= share_of_winnings * v.won;
}

bool harms(const RingTrial& trial) {
  const rings::RingVerdict& v = trial.verdict;
  return v.disturbed >= maximum_disturbed && v.lost > share_of_winnings * v.won;
}

// Quarters of so many views have a median.
constexpr std::int64_t minimum_views = 16;

// A further iteration must add this share to what was won.
constexpr double worth_another = 0.02;

}  // namespace

RingChoice choose_ring_method(const rings::RingSample& sample, const RingOptions& parameters, ThreadPool& threads) {
  const Planes& sinograms = sample.sinograms;
  if (sinograms.height < minimum_views) {
    RingChoice none;
    none.why_none = format("{} views are too few to tell rings from the object", sinograms.height);
    return none;
  }
  const std::int64_t size = sinograms.width * sinograms.height;
  const rings::RingJudge judge(sample, parameters, threads);
  RingChoice choice;
  choice.broken_columns = judge.broken_columns();
  choice.why_none = "no method would make the slice better";
  if (judge.object_share() > 0.5)
    choice.why_none += " (stripes mirror each other or are the same in all rows, like an object's)";
  if (judge.nothing_to_win()) return choice;
  std::string why_not;
  Buffer<float> memory(sinograms.count * size);
  const Planes copy{memory.data(), sinograms.width, sinograms.height, sinograms.width, sinograms.count, size};
  for (const RingMethod method :
       {RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting, RingMethod::combined}) {
    // It would bridge the columns that are taken for broken.
    if (method == RingMethod::combined && judge.broken_unclear()) continue;
    RingOptions options = parameters;
    options.method = method;
    options.iterations = std::max(1, parameters.iterations);
    try {
      check_rings(options, sinograms.width, sinograms.height);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      why_not = error.what();
      continue;
    }
    for (std::int64_t plane = 0; plane < sinograms.count; ++plane)
      for (std::int64_t y = 0; y < sinograms.height; ++y)
        std::copy_n(sinograms.row(plane, y), sinograms.width, copy.row(plane, y));
    remove_rings(copy, options, threads);
    choice.trials.push_back({options, judge.judge(copy, threads)});
    RingOptions once_more = options;
    once_more.iterations = 1;
    while (parameters.iterations == 0 && options.iterations < maximum_iterations) {
      const RingTrial so_far = choice.trials.back();
      if (balance(so_far) <= 0) break;
      ++options.iterations;
      remove_rings(copy, once_more, threads);
      const RingTrial next{options, judge.judge(copy, threads)};
      if (harms(next) || balance(next) < (1 + worth_another) * balance(so_far)) break;
      choice.trials.push_back(next);
    }
  }
  if (choice.trials.empty())
    throw Error(ErrorKind::usage, {.what = "no method of ring removal fits these sinograms",
                                   .where = format("{} columns x {} views", sinograms.width, sinograms.height),
                                   .why = why_not,
                                   .hint = "give smaller windows"});
  const RingTrial* chosen = nullptr;
  for (const RingTrial& trial : choice.trials) {
    if (!helps(trial)) continue;
    if (harms(trial))
      choice.refused = true;
    else if (!chosen || balance(trial) > balance(*chosen))
      chosen = &trial;
  }
  if (chosen) {
    choice.options = chosen->options;
    choice.refused = false;
    choice.why_none.clear();
  } else if (choice.refused) {
    choice.why_none =
        format("every method that lessens the rings disturbs the object by more than {:g} %", 100 * maximum_disturbed);
  }
  return choice;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "iterative/iterate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "core/format.h"

namespace lepus {
namespace {

constexpr double clear_rise = 1.5;  // of a residual: subsets and noise do less

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Residuals (1: that of an empty volume) may rise a little while subsets or momentum are at work; a method that is lost
// makes them larger and larger.
class DivergenceWatch {
public:
  explicit DivergenceWatch(bool oscillates) : oscillates_(oscillates) {}
  bool lost(double residual) const {
    return !std::isfinite(residual) || residual > (oscillates_ ? 3 * std::max(1.0, first_) : 5 * smallest_);
  }
  // Whether it is the smallest so far.
  bool note(double residual) {
    if (first_ == 0) first_ = residual;
    if (!(residual < smallest_)) return false;
    smallest_ = residual;
    return true;
  }

private:
  bool oscillates_;
  double first_ = 0, smallest_ = std::numeric_limits<double>::infinity();
};

// Says the residual about ten times a run, and whenever an iteration takes long.
class ResidualLog {
public:
  ResidualLog(Progress& progress, std::int64_t iterations) : progress_(progress), iterations_(iterations) {}
  void tell(std::int64_t iteration, double residual) {
    constexpr double long_s = 10;
    const std::int64_t tenths = 10 * iteration / iterations_;
    if (tenths == said_tenths_ && now_s() - said_s_ < long_s) return;
    said_tenths_ = tenths;
    said_s_ = now_s();
    progress_.note(format("iteration {} of {}: residual {:.4g}", iteration, iterations_, residual));
  }

private:
  Progress& progress_;
  std::int64_t iterations_, said_tenths_ = 0;
  double said_s_ = now_s();
};

// When the state is to be saved.
class SaveClock {
public:
  explicit SaveClock(const SaveRule& rule) : rule_(rule) {}
  bool due(std::int64_t iteration) const {
    if (rule_.iterations > 0 && iteration % rule_.iterations == 0) return true;
    if (rule_.iterations > 0 && rule_.seconds == 0) return false;
    constexpr double smallest_share = 100, shortest_s = 60;
    const double wait_s = rule_.seconds > 0 ? rule_.seconds : std::max(shortest_s, smallest_share * cost_s_);
    return now_s() - last_s_ >= wait_s;
  }
  template <class Save>
  void save(const Save& save) {
    const double start = now_s();
    save();
    last_s_ = now_s();
    cost_s_ = last_s_ - start;
  }

private:
  SaveRule rule_;
  double last_s_ = now_s(), cost_s_ = 0;
};

// Why to stop after an iteration; "": go on.
std::string reason_to_stop(const MethodOptions& options, double residual, double change, double noise_norm) {
  if (options.residual > 0 && residual <= options.residual)
    return format("the residual {:.3g} is at or below {:.3g}", residual, options.residual);
  if (noise_norm > 0 && residual <= noise_norm)
    return format("the residual {:.3g} is at or below the noise, {:.3g}", residual, noise_norm);
  if (options.change > 0 && change <= options.change)
    return format("the volume changed by {:.3g}, at or below {:.3g}", change, options.change);
  return "";
}

// Kept with the method: where a run that goes on diverges, it has the same last good volume.
Vector& volume_of_smallest_residual(Method& method) { return method.kept_volume("volume of the smallest residual"); }

}  // namespace

std::int64_t iteration_before_rise(const MethodOptions& options, const std::vector<double>& residuals) {
  if (residuals.empty() || options.strength > 0 || method_kind(options.method).oscillates) return 0;
  const auto best = std::ranges::min_element(residuals);
  return residuals.back() > clear_rise * *best ? best - residuals.begin() + 1 : 0;
}

void prepare(Method& method) {
  method.prepare();
  volume_of_smallest_residual(method);
}

IterateReport iterate(Method& method, Problem& problem, const MethodOptions& options, const IterateHooks& hooks) {
  Progress silent;
  Progress& progress = hooks.progress ? *hooks.progress : silent;
  const double start = now_s();
  Algebra algebra(*problem.map);
  prepare(method);
  Vector& good = volume_of_smallest_residual(method);
  IterateReport report;
  if (hooks.restore) {
    report = hooks.restore(method);
  } else {
    method.start();
    algebra.copy(good, method.volume());
  }
  const double seconds_before = report.seconds;
  const auto seconds = [&] { return seconds_before + now_s() - start; };

  double unit = std::sqrt(algebra.squared(problem.data));
  if (unit == 0) unit = 1;
  const double noise_norm = options.noise * std::sqrt(algebra.count(problem.data)) / unit;
  Vector before(*problem.map, problem.map->voxels());
  const MethodKind& kind = method_kind(options.method);
  DivergenceWatch watch(kind.oscillates);
  for (const double residual : report.residuals) watch.note(residual);
  report.iterations = method.iteration();
  if (!report.residuals.empty())
    report.stopped = reason_to_stop(options, report.residuals.back(), report.change, noise_norm);
  bool saved = true;
  SaveClock clock(hooks.save_rule);
  const auto save = [&] {
    report.seconds = seconds();
    clock.save([&] { hooks.save(method, report); });
    saved = true;
  };
  bool settled = false;
  const auto settle = [&] {
    if (settled || report.residuals.empty()) return;
    settled = true;
    std::vector<double>& residuals = report.residuals;
    if (const auto residual = method.settle()) residuals.back() = *residual / unit;
    const double best = *std::ranges::min_element(residuals);
    report.taken_back =
        method.taken_back() && (residuals.back() > clear_rise * best || residuals.back() == residuals.front());
  };
  ResidualLog log(progress, options.iterations);
  progress.begin(format("iterating ({})", options.method), options.iterations);
  progress.advance(method.iteration());
  while (report.stopped.empty() && method.iteration() < options.iterations) {
    algebra.copy(before, method.volume());
    const double residual = method.step() / unit;
    settled = false;
    const bool taken_back = method.taken_back() && std::isfinite(unit);
    if (!taken_back && watch.lost(residual)) {
      report.diverged = true;
      report.stopped = format("iteration {} left a residual of {:.3g}: it diverges", method.iteration() + 1, residual);
      algebra.copy(method.volume(), good);
      break;
    }
    method.set_iteration(method.iteration() + 1);
    report.iterations = method.iteration();
    report.residuals.push_back(residual);
    saved = false;
    const bool best = watch.note(residual) && !taken_back;
    const bool best_before = best && !kind.residual_after;
    if (best_before) std::swap(good, before);
    if (best && kind.residual_after) algebra.copy(good, method.volume());
    if (options.change > 0) {
      algebra.combine(before, 1, method.volume(), -1, best_before ? good : before);
      report.change = taken_back
                          ? std::numeric_limits<double>::infinity()
                          : std::sqrt(algebra.squared(before) / std::max(1e-300, algebra.squared(method.volume())));
    }
    progress.advance();
    log.tell(method.iteration(), residual);
    report.stopped = reason_to_stop(options, residual, report.change, noise_norm);
    if (!report.stopped.empty()) {
      settle();
      report.stopped =
          method.taken_back() ? "" : reason_to_stop(options, report.residuals.back(), report.change, noise_norm);
    }
    if (hooks.save && algebra.anywhere(clock.due(method.iteration()))) save();
    if (report.stopped.empty() && hooks.go_on && !hooks.go_on(method, residual))
      report.stopped = format("stopped by its caller after iteration {}", method.iteration());
    if (report.stopped.empty() && hooks.cancel && method.iteration() < options.iterations &&
        algebra.anywhere(hooks.cancel->cancelled())) {
      report.cancelled = true;
      report.stopped = format("interrupted after iteration {}", method.iteration());
      if (hooks.save && !saved) save();
    }
  }
  progress.end();
  if (!report.diverged && !report.cancelled) settle();
  if (report.stopped.empty()) report.stopped = format("all {} iterations are done", options.iterations);
  report.seconds = seconds();
  return report;
}

}  // namespace lepus

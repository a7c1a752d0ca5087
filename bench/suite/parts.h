// SPDX-License-Identifier: Apache-2.0
// The parts of the suite. Each adds its figures to the run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/suite/suite.h"
#include "bench/measure/limits.h"
#include <lepus/error.h>

namespace lepus::bench {

inline constexpr double updates_in_gups = 1073741824.0;  // GUPS are 2^30 updates a second

struct Run {
  BenchOptions options;
  bool cpu = true, gpu = false;  // which are measured
  measure::Limits limits;
  measure::Report report;
  Context& context;

  int repeats() const { return options.quick ? 2 : 5; }
  std::vector<std::int64_t> cpu_sizes() const;
  std::vector<std::int64_t> gpu_sizes() const;
  // The views that a backend's problems of this size are made from: CPUs take fewer and smaller ones.
  struct Views {
    std::int64_t columns, rows, views;
    std::string text() const;  // "64 views of 624 x 480"
  };
  Views cpu_views(std::int64_t size) const;
  Views gpu_views() const;

  // Not initialised; page-locked, for the way to a GPU and back, where that is asked for.
  std::shared_ptr<float> host_floats(std::int64_t count, bool page_locked) const;

  void add(measure::Figure figure);  // and says it
  // Where memory is too small the figure is left out, with a warning.
  template <class Work>
  void unless_memory_is_short(const std::string& what, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      context.progress.warning(what + " is left out: " + error.what());
    }
  }
};

void bench_backprojection(Run& run);
void bench_filter(Run& run);
void bench_projector(Run& run);
void bench_corrections(Run& run);
void bench_io(Run& run);
void bench_fdk(Run& run);

struct SampleErrors;
// Group, unit and verdict of a backprojection.
measure::Figure backprojection_figure(std::int64_t size, const SampleErrors& errors, const SampleErrors& limits);

}  // namespace lepus::bench

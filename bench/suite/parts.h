// SPDX-License-Identifier: Apache-2.0
// The parts of the suite. Each adds its figures to the run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/suite/suite.h"
#include "device/device.h"
#include "bench/measure/limits.h"
#include <lepus/compute.h>
#include <lepus/error.h>

namespace lepus::bench {

inline constexpr double updates_in_gups = 1073741824.0;  // GUPS are 2^30 updates a second

// A device beside the CPU's own code.
struct MeasuredDevice {
  std::string kind, spoken;  // "opencl", "OpenCL"
  bool gpu = true;           // false: a CPU imitates one, and is given the CPU's problems
};

struct Run {
  BenchOptions options;
  bool cpu = true, gpu = false;         // which are measured: the CPU's own code; a CUDA device, whose limits are known
  std::vector<MeasuredDevice> devices;  // CUDA and OpenCL, those that are measured
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
  std::vector<std::int64_t> sizes_of(const MeasuredDevice& d) const { return d.gpu ? gpu_sizes() : cpu_sizes(); }
  Views views_of(const MeasuredDevice& d, std::int64_t size) const { return d.gpu ? gpu_views() : cpu_views(size); }
  Compute compute_with(const std::string& kind, Precision precision = Precision::half) const;

  // Not initialised; where devices of that kind copy from fastest.
  std::shared_ptr<float> host_floats(std::int64_t count, const std::string& kind) const;

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
// The best of some runs of what `work` gives to the queue, by the device's own events.
double best_event_seconds(int repeats, Queue& queue, const std::function<void()>& work);
// Group, unit and verdict of a backprojection.
measure::Figure backprojection_figure(std::int64_t size, const SampleErrors& errors, const SampleErrors& limits);

}  // namespace lepus::bench

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "bench/suite/known_scan.h"
#include "bench/suite/filter_problem.h"
#include "bench/suite/synthetic.h"
#include "core/format.h"
#include "core/memory.h"
#include "bench/measure/clock.h"
#include "device/device.h"
#include "device/host/row_filter.h"
#include "device/projector.h"

namespace lepus::bench {
namespace {

void filter_on_cpu(Run& run) {
  ThreadPool& threads = run.context.threads;
  const Run::Views v = run.cpu_views(256);
  const FilterProblem problem({v.columns, v.rows, std::min<std::int64_t>(v.views, 32)});
  const ScanGeometry& g = problem.geometry;
  const RampFilter ramp(g.columns, problem.ramp);
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(problem.pixels()));
  for (std::int64_t view = 0; view < g.views(); ++view) problem.fill(view, counts.data() + view * g.columns * g.rows);
  const host::BlockFilter filter(problem.setup());
  // Blocks as the sweep cuts them.
  std::vector<RowBlock> blocks;
  for (std::int64_t view = 0; view < g.views(); ++view)
    for (std::int64_t row = 0; row < g.rows; row += host::rows_at_once) {
      RowBlock block;
      block.request.view = view;
      block.request.rows = block.request.recorded = {row, std::min(row + host::rows_at_once, g.rows)};
      block.pixels = reinterpret_cast<std::byte*>(counts.data() + (view * g.rows + row) * g.columns);
      blocks.push_back(block);
    }
  std::vector<Buffer<float>> scratch;
  scratch.reserve(static_cast<std::size_t>(threads.size()));
  for (int i = 0; i < threads.size(); ++i) scratch.emplace_back(filter.scratch_floats());
  const double error = problem.error_of([&](std::int64_t view, std::int64_t row) {
    for (const RowBlock& block : blocks)
      if (block.request.view == view && row >= block.request.rows.first && row < block.request.rows.last) {
        const float* out = filter.apply(block, scratch[0].data()) + (row - block.request.rows.first) * g.columns;
        return std::vector<float>(out, out + g.columns);
      }
    return std::vector<float>();
  });
  measure::Figure f = filter_figure(problem, error);
  f.name = "CPU";
  f.seconds = measure::best_seconds(run.repeats(), [&] {
    threads.parallel_for(
        0, static_cast<std::int64_t>(blocks.size()), 1, [&](std::int64_t first, std::int64_t last, int worker) {
          for (std::int64_t i = first; i < last; ++i)
            filter.apply(blocks[static_cast<std::size_t>(i)], scratch[static_cast<std::size_t>(worker)].data());
        });
  });
  // Two real transforms of n samples take 5 n log2 n operations, two of them to a multiply-add.
  const auto n = static_cast<double>(ramp.padded_length());
  f.limit_rate = run.limits.multiply_adds / (2.5 * n * std::log2(n) / static_cast<double>(g.columns));
  f.limit = "multiply-adds of the transforms";
  f.note = format("{} views of {} x {}, transforms of {}", g.views(), g.columns, g.rows, ramp.padded_length());
  run.add(f);
}

// Where filtered rows go that nobody backprojects: some of them are looked at.
class LastRows final : public ViewStore {
public:
  void set_window(std::int64_t, RowBand, Keep) override {}
  void put(const float* filtered, std::int64_t view_stride, std::int64_t, std::int64_t, RowBand, Queue&) override {
    rows = filtered;
    stride = view_stride;
  }
  const float* rows = nullptr;  // in the device's memory, until the queue's scratch is used again
  std::int64_t stride = 0;
};

// Counts in device memory to filtered rows in device memory; the device's own events.
void filter_on_device(Run& run, const MeasuredDevice& measured) {
  const Devices devices = open_devices(run.compute_with(measured.kind), run.context.threads);
  Device& device = *devices.front();
  const Run::Views v = run.views_of(measured, 256);
  const FilterProblem problem({v.columns, v.rows, measured.gpu ? v.views : std::min<std::int64_t>(v.views, 32)});
  const ScanGeometry& g = problem.geometry;
  std::vector<std::int64_t> order(static_cast<std::size_t>(g.views()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  RowFilterSetup setup = problem.setup();
  setup.view_order = &order;
  const auto filter = device.make_row_filter(setup);
  const auto queue = device.make_queue();
  const std::int64_t frame_bytes = g.columns * g.rows * 2;
  const Block counts = device.allocate(g.views() * frame_bytes);
  std::vector<std::uint16_t> host(static_cast<std::size_t>(g.columns * g.rows));
  std::vector<RowBlock> blocks;
  for (std::int64_t view = 0; view < g.views(); ++view) {
    problem.fill(view, host.data());
    device.copy(counts.get() + view * frame_bytes, host.data(), frame_bytes, *queue);
    queue->wait();
    const RowBand all{0, g.rows};
    blocks.push_back({{view, view, view, all, all, all}, counts.get() + view * frame_bytes});
  }
  LastRows store;
  const auto filter_all = [&] { filter->filter(blocks, store, *queue); };
  filter_all();
  const double error = problem.error_of([&](std::int64_t view, std::int64_t row) {
    std::vector<float> line(static_cast<std::size_t>(g.columns));
    device.copy(line.data(), store.rows + view * store.stride + row * g.columns, 4 * g.columns, *queue);
    queue->wait();
    return line;
  });
  measure::Figure f = filter_figure(problem, error);
  f.name = measured.spoken;
  f.seconds = best_event_seconds(run.repeats(), *queue, filter_all);
  if (measured.kind == "cuda") {  // two bytes in, four out
    f.limit_rate = run.limits.device_copy_gb_s / 6;
    f.limit = "device copy";
  }
  f.note = format("{} views of {} x {}, {}", g.views(), g.columns, g.rows, device.info().name);
  run.add(f);
}

}  // namespace

FilterProblem::FilterProblem(const Run::Views& v)
    : geometry(build_scan(c_arm_scan(v.columns, v.rows, v.views))),
      weights(geometry),
      normalisation(ball_normalisation(c_arm_scan(v.columns, v.rows, v.views))) {}

RowFilterSetup FilterProblem::setup() const {
  RowFilterSetup setup;
  setup.wide = &geometry;
  setup.weights = &weights;
  setup.ramp = ramp;
  setup.columns = setup.recorded_columns = geometry.columns;
  setup.type = PixelType::u16;
  setup.normalisation = &normalisation;
  return setup;
}

std::uint16_t FilterProblem::count_at(std::int64_t view, std::int64_t row, std::int64_t column) const {
  // Line integrals between 0.1 and 3.4.
  const auto place = static_cast<std::uint32_t>((view * geometry.rows + row) * geometry.columns + column) + 1u;
  const std::uint32_t h = std::rotl(place * 0x9e3779b9u, 13) * 0x85ebca6bu;
  return static_cast<std::uint16_t>(2000 + (h >> 8) % 52000);
}

void FilterProblem::fill(std::int64_t view, std::uint16_t* frame) const {
  for (std::int64_t row = 0; row < geometry.rows; ++row)
    for (std::int64_t column = 0; column < geometry.columns; ++column)
      frame[row * geometry.columns + column] = count_at(view, row, column);
}

double FilterProblem::error_of(const std::function<std::vector<float>(std::int64_t, std::int64_t)>& rows) const {
  double squares = 0, count = 0, peak = 0;
  for (const std::int64_t view : {std::int64_t{0}, geometry.views() / 2, geometry.views() - 1})
    for (const std::int64_t row : {std::int64_t{0}, geometry.rows / 2, geometry.rows - 1}) {
      std::vector<double> line;
      line.reserve(static_cast<std::size_t>(geometry.columns));
      for (std::int64_t u = 0; u < geometry.columns; ++u)
        line.push_back(std::log(known_open_beam / static_cast<double>(count_at(view, row, u))) *
                       weights.at(view, static_cast<double>(u), static_cast<double>(row)));
      const std::vector<double> expected = ramp_filter_reference(line, ramp);
      const std::vector<float> got = rows(view, row);
      if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double d = static_cast<double>(got[i]) - expected[i];
        squares += d * d;
        peak = std::max(peak, std::abs(expected[i]));
        ++count;
      }
    }
  return std::sqrt(squares / count) / peak;
}

measure::Figure filter_figure(const FilterProblem& problem, double error) {
  measure::Figure f;
  f.group = "filter";
  f.unit = "Gpixel/s";
  f.work = 1e-9 * problem.pixels();
  f.error = error;
  // Single precision through two transforms: 1.3e-7 was measured on CPUs, 7.6e-8 on a GPU; three times as much.
  f.error_limit = 4e-7;
  f.error_of = "rms against direct convolution in double precision, over the largest value";
  return f;
}

void bench_filter(Run& run) {
  if (run.cpu) filter_on_cpu(run);
  for (const MeasuredDevice& d : run.devices)
    run.unless_memory_is_short("filter by " + d.spoken, [&] { filter_on_device(run, d); });
}

}  // namespace lepus::bench

// SPDX-License-Identifier: Apache-2.0
// Backprojection of synthetic views: the CPU's kernels, whose views and volume lie in memory, on all threads; and any
// device's.
#include <algorithm>

#include "device/device.h"
#include "device/host/backprojector.h"
#include "device/precision_word.h"
#include "bench/suite/synthetic.h"
#include "bench/suite/parts.h"
#include "core/format.h"
#include "core/memory.h"
#include "bench/measure/clock.h"

namespace lepus::bench {
namespace {

// Fused multiply-adds that the formula needs per update. Circular: v along the column, one blend along v, the weighted
// sum; u, w and the blend along u are shared by a column of voxels. General: u w, v w and w, three blends, the sum.
constexpr double circular_multiply_adds = 3, general_multiply_adds = 7;

// [column][row], as the CPU's kernels read them.
std::vector<Buffer<float>> synthetic_bands(const ScanGeometry& g, std::int64_t stride, ThreadPool& threads) {
  std::vector<Buffer<float>> views(static_cast<std::size_t>(g.views()));
  threads.parallel_for(0, g.views(), 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t view = first; view < last; ++view) {
      Buffer<float> data(g.columns * stride);
      for (std::int64_t c = 0; c < g.columns; ++c)
        for (std::int64_t r = 0; r < stride; ++r)
          data[c * stride + r] = r < g.rows ? synthetic_pixel(static_cast<unsigned>(view), static_cast<unsigned>(c),
                                                              static_cast<unsigned>(r))
                                            : 0.0f;
      views[static_cast<std::size_t>(view)] = std::move(data);
    }
  });
  return views;
}

void on_cpu(Run& run, std::int64_t size) {
  ThreadPool& threads = run.context.threads;
  const Run::Views v = run.cpu_views(size);
  const VolumeGrid grid = cube_of_256_mm(size);
  const std::int64_t row_stride = (v.rows + 15) / 16 * 16 + 16, z_stride = (size + 15) / 16 * 16;
  std::vector<Buffer<float>> views;
  Buffer<float> volume(size * size * z_stride);
  for (const Orbit orbit : {Orbit::circular, Orbit::general}) {
    const ScanGeometry geometry = build_scan(c_arm_scan(v.columns, v.rows, v.views, orbit));
    if (views.empty()) views = synthetic_bands(geometry, row_stride, threads);
    const auto kernel = make_backprojector(geometry, grid, Interpolation::linear);
    BandSet wedge{.first = 0, .row_stride = row_stride, .bands = {}};
    for (const std::int64_t view : kernel->view_order())
      wedge.bands.push_back({views[static_cast<std::size_t>(view)].data(), 0, v.rows});
    const SlabView slab{volume.data(), 0, size, z_stride};
    std::fill(volume.begin(), volume.end(), 0.0f);
    kernel->accumulate(wedge, slab, threads);
    const SampleErrors e = errors_of(reference_samples(geometry, grid, Interpolation::linear, 2000, threads),
                                     [&](const Sample& s) { return volume[(s.y * grid.nx + s.x) * z_stride + s.z]; });
    measure::Figure f = backprojection_figure(size, e, exact_limits);
    f.name = orbit == Orbit::circular ? "CPU circular" : "CPU general";
    f.seconds = measure::best_seconds(run.repeats(), [&] { kernel->accumulate(wedge, slab, threads); });
    f.work = static_cast<double>(grid.voxels() * v.views) / updates_in_gups;
    const double seen = share_seen(geometry, grid, threads);
    f.limit_rate = run.limits.multiply_adds * 1e9 / updates_in_gups /
                   (orbit == Orbit::circular ? circular_multiply_adds : general_multiply_adds) / seen;
    f.limit = "multiply-adds of the formula";
    f.note = format("{}; {}; {}", v.text(), kernel->description(), seen_text(seen));
    run.add(f);
  }
}

// Any matrices, through the interface of devices; views and volume lie in its memory, its own events. CUDA's kernels
// have figures of their own (backprojection_cuda.cpp).
void on_device(Run& run, std::int64_t size, const MeasuredDevice& measured, Precision precision,
               const std::string& name) {
  const Devices devices = open_devices(run.compute_with(measured.kind, precision), run.context.threads);
  Device& device = *devices.front();
  const Run::Views v = run.views_of(measured, size);
  const VolumeGrid grid = cube_of_256_mm(size);
  const ScanGeometry geometry = build_scan(c_arm_scan(v.columns, v.rows, v.views, Orbit::general));
  const auto projector = device.make_projector({.geometry = &geometry, .grid = grid, .cylinder_mm = 1e9});
  const auto queue = device.make_queue();
  const auto store = projector->make_view_store(v.views, v.rows);
  store->set_largest_value(1);
  std::vector<float> rows(static_cast<std::size_t>(v.columns * v.rows));
  const Block sent = device.allocate(4 * v.columns * v.rows);
  for (std::int64_t view = 0; view < v.views; ++view) {
    for (std::int64_t i = 0; i < v.columns * v.rows; ++i)
      rows[static_cast<std::size_t>(i)] = synthetic_pixel(
          static_cast<unsigned>(view), static_cast<unsigned>(i % v.columns), static_cast<unsigned>(i / v.columns));
    device.copy(sent.get(), rows.data(), 4 * v.columns * v.rows, *queue);
    store->set_window(view, {0, v.rows}, ViewStore::Keep::nothing);
    store->put(reinterpret_cast<const float*>(sent.get()), v.columns * v.rows, view, 1, {0, v.rows}, *queue);
    queue->wait();
  }
  const auto slab = projector->make_slab_store(size);
  const auto sum = [&] {
    projector->back({.store = store.get(), .first_slot = 0, .first = 0, .views = v.views}, *slab, {0, size}, *queue);
  };
  slab->begin({0, size}, *queue);
  sum();
  const SampleErrors e = errors_of(reference_samples(geometry, grid, Interpolation::linear, 2000, run.context.threads),
                                   [&](const Sample& s) {
                                     float value = 0;
                                     slab->download({s.x, s.x + 1, s.y, s.y + 1, s.z, s.z + 1}, &value, *queue);
                                     queue->wait();
                                     return value;
                                   });
  measure::Figure f = backprojection_figure(size, e, precision == Precision::exact ? exact_limits : texture_limits);
  f.name = name;
  f.seconds = best_event_seconds(run.repeats(), *queue, sum);
  f.work = static_cast<double>(grid.voxels() * v.views) / updates_in_gups;
  f.note = format("{}; {}; {}", v.text(), projector->description(),
                  seen_text(share_seen(geometry, grid, run.context.threads)));
  run.add(f);
}

}  // namespace

double best_event_seconds(int repeats, Queue& queue, const std::function<void()>& work) {
  const auto begin = queue.device().make_event(Timing::on), end = queue.device().make_event(Timing::on);
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    begin->mark(queue);
    work();
    end->mark(queue);
    end->wait();
    best = i == 0 ? end->seconds_since(*begin) : std::min(best, end->seconds_since(*begin));
  }
  return best;
}

measure::Figure backprojection_figure(std::int64_t size, const SampleErrors& e, const SampleErrors& limits) {
  measure::Figure f;
  f.group = format("backprojection {}^3", size);
  f.unit = "GUPS";
  // The largest error speaks only where it breaks its own limit.
  f.error = e.largest <= limits.largest ? e.rms : std::max(e.rms, e.largest);
  f.error_limit = limits.rms;
  f.error_of = "rms against the definition in double precision, over the largest value";
  return f;
}

void bench_backprojection(Run& run) {
  if (run.cpu)
    for (const std::int64_t size : run.cpu_sizes())
      run.unless_memory_is_short(format("backprojection {}^3 on the CPU", size), [&] { on_cpu(run, size); });
  for (const MeasuredDevice& d : run.devices)
    if (d.kind != "cuda")
      for (const std::int64_t size : run.sizes_of(d))
        for (const Precision precision : {Precision::half, Precision::fast, Precision::exact}) {
          const std::string name = format("{} general, {}", d.spoken, precision_word(precision));
          run.unless_memory_is_short(format("backprojection {}^3, {}", size, name),
                                     [&] { on_device(run, size, d, precision, name); });
        }
}

}  // namespace lepus::bench

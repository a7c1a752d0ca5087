// SPDX-License-Identifier: Apache-2.0
#include "bench/suite/smoothing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/format.h"
#include "bench/measure/clock.h"
#include "device/band_kernels.h"
#include "device/device.h"

namespace lepus::bench {

FilterOptions smoothing_options(const SmoothingCase& c) {
  FilterOptions options;
  options.kind = c.kind;
  options.radius = c.radius;
  options.sigma = static_cast<double>(c.radius) / 3;
  return options;
}

double smoothing_limit(FilterKind kind) { return kind == FilterKind::median ? 0.0 : 1e-5; }

NoisyPictures::NoisyPictures(std::int64_t w, std::int64_t h, std::int64_t n)
    : width(w), height(h), count(n), values(static_cast<std::size_t>(w * h * n)) {
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float noise = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    const auto x = static_cast<float>(static_cast<std::int64_t>(i) % w) / static_cast<float>(w);
    values[i] = (x > 0.3f && x < 0.7f ? 0.4f : 1.0f) - 0.1f * x + 0.1f * noise;
  }
}

double largest_difference(const std::vector<float>& got, const std::vector<float>& expected) {
  double worst = got.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    const double d = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    worst = d >= 0 ? std::max(worst, d) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

double smoothing_error(const SmoothingCase& c, ThreadPool& threads) {
  NoisyPictures in(2 * c.radius + 40, 3), got = in, expected = in;
  filter(in.planes(), got.planes(), smoothing_options(c), threads);
  reference::filter(in.planes(), expected.planes(), smoothing_options(c));
  return largest_difference(got.values, expected.values);
}

measure::Figure smoothing_figure(const SmoothingCase& c, std::int64_t sinograms) {
  measure::Figure f;
  f.group = "smoothing filters";
  f.unit = "Gpixel/s";
  f.work = 1e-9 * static_cast<double>(sinograms * sinogram_columns * sinogram_views);
  f.error_limit = smoothing_limit(c.kind);
  return f;
}

void bench_filters_cpu(Run& run) {
  ThreadPool& threads = run.context.threads;
  NoisyPictures in(sinogram_columns, sinogram_views, run.options.quick ? 1 : 2), out = in;
  for (const SmoothingCase& c : smoothing_cases) {
    measure::Figure f = smoothing_figure(c, in.count);
    f.name = std::string("CPU ") + c.name;
    f.error = smoothing_error(c, threads);
    f.error_of = "largest difference from the definition in double precision";
    f.seconds =
        measure::best_seconds(run.repeats(), [&] { filter(in.planes(), out.planes(), smoothing_options(c), threads); });
    f.limit_rate = run.limits.copy_gb_s / 8;  // fp32 in and out
    f.limit = "memory copy";
    f.note = format("sinograms of {} x {}, {} each", sinogram_columns, sinogram_views,
                    format("{:.2f} ms", 1e3 * f.seconds / static_cast<double>(in.count)));
    run.add(f);
  }
}

// On data that lies on the device; its own events. The first and the last sinogram are held against the CPU's.
void bench_filters_of(Run& run, const MeasuredDevice& measured) {
  const Devices devices = open_devices(run.compute_with(measured.kind), run.context.threads);
  Device* const device = devices.front().get();
  if (!device->band_kernels().has(BandOperation::filter)) return;
  const auto queue = device->make_queue();
  const std::int64_t sinograms = run.options.quick ? 8 : 450, pixels = sinogram_columns * sinogram_views;
  const auto bytes = pixels * static_cast<std::int64_t>(sizeof(float));
  const Block in = device->allocate(sinograms * bytes), out = device->allocate(sinograms * bytes);
  NoisyPictures picture(sinogram_columns, sinogram_views), expected = picture, got = picture;
  for (std::int64_t i = 0; i < sinograms; ++i) device->copy(in.get() + i * bytes, picture.values.data(), bytes, *queue);
  Planes from{
      reinterpret_cast<float*>(in.get()), sinogram_columns, sinogram_views, sinogram_columns, sinograms, pixels},
      to = from;
  to.data = reinterpret_cast<float*>(out.get());
  for (const SmoothingCase& c : smoothing_cases) {
    const FilterOptions options = smoothing_options(c);
    const auto filter_all = [&] { device->band_kernels().filter(from, to, options, uncut(from), *queue); };
    filter_all();
    filter(picture.planes(), expected.planes(), options, run.context.threads);
    measure::Figure f = smoothing_figure(c, sinograms);
    for (const std::int64_t i : {std::int64_t{0}, sinograms - 1}) {
      device->copy(got.values.data(), out.get() + i * bytes, bytes, *queue);
      queue->wait();
      f.error = std::max(f.error, largest_difference(got.values, expected.values));
    }
    f.name = measured.spoken + " " + c.name;
    f.error_of = "largest difference from the CPU's";
    f.seconds = best_event_seconds(run.repeats(), *queue, filter_all);
    if (measured.kind == "cuda") f.limit_rate = run.limits.device_copy_gb_s / 8, f.limit = "device copy";
    f.note = format("{} sinograms of {} x {}, {:.4f} ms each", sinograms, sinogram_columns, sinogram_views,
                    1e3 * f.seconds / static_cast<double>(sinograms));
    run.add(f);
  }
}

}  // namespace lepus::bench

// SPDX-License-Identifier: Apache-2.0
// The filters on one GPU, on device-resident data: 450 sinograms of 1400x360 (the Iowa State scan), each filter against
// its bar. The first, the middle and the last sinogram are checked against the CPU before any time counts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "device/band_kernels.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/host/band_kernels/filter.h"
#include <lepus/error.h>

namespace lepus::bench {
namespace {

constexpr std::int64_t columns = 1400, views = 360, sinograms = 450, sinogram = columns * views;
constexpr std::int64_t sinogram_bytes = sinogram * static_cast<std::int64_t>(sizeof(float));

struct Problem {
  const char* name;
  FilterKind kind;
  std::int64_t radius;
  int dimensions;
  double bar_ms;  // 0: none; negative: so many times a copy's time
};

std::vector<float> noisy_sinogram(std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(sinogram));
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::int64_t i = 0; i < sinogram; ++i) {
    state = state * 1664525u + 1013904223u;
    const float noise = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    const auto x = static_cast<float>(i % columns) / static_cast<float>(columns);
    values[static_cast<std::size_t>(i)] = (x > 0.3f && x < 0.7f ? 0.4f : 1.0f) - 0.1f * x + 0.1f * noise;
  }
  return values;
}

template <class Work>
double median_ms(Queue& queue, const Work& work) {
  std::vector<double> times;
  const auto from = queue.device().make_event(Timing::on), to = queue.device().make_event(Timing::on);
  for (int repeat = 0; repeat < 9; ++repeat) {
    from->mark(queue);
    work();
    to->mark(queue);
    to->wait();
    times.push_back(1e3 * to->seconds_since(*from));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// How far the device's result is from the CPU's; NaN counts as infinite.
double error_of(const Problem& p, const FilterOptions& options, const std::vector<std::vector<float>>& different,
                const std::byte* out, Queue& queue) {
  ThreadPool threads;
  double worst = 0;
  for (const std::int64_t index : {std::int64_t{0}, sinograms / 2, sinograms - 1}) {
    std::vector<float> in = different[static_cast<std::size_t>(index) % different.size()], expected = in, got = in;
    const bool slow = p.kind == FilterKind::bilateral && p.dimensions > 1;
    if (slow && index > 0) break;
    const Planes from{in.data(), columns, views, columns, 1, sinogram};
    const Planes to{expected.data(), columns, views, columns, 1, sinogram};
    filter(from, to, options, threads);
    queue.device().copy(got.data(), out + index * sinogram_bytes, sinogram_bytes, queue);
    queue.wait();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
      worst = error >= 0 ? std::max(worst, error) : INFINITY;
    }
  }
  return worst;
}

int run(const char* part) {
  const auto device = cuda::make_device(0, Precision::half, 0);
  const auto queue = device->make_queue();
  const Block in = device->allocate(sinograms * sinogram_bytes), out = device->allocate(sinograms * sinogram_bytes);
  std::vector<std::vector<float>> different;
  for (std::uint32_t seed = 0; seed < 4; ++seed) different.push_back(noisy_sinogram(seed));
  for (std::int64_t i = 0; i < sinograms; ++i)
    device->copy(in.get() + i * sinogram_bytes, different[static_cast<std::size_t>(i) % 4].data(), sinogram_bytes,
                 *queue);
  const Planes from{reinterpret_cast<float*>(in.get()), columns, views, columns, sinograms, sinogram};
  Planes to = from;
  to.data = reinterpret_cast<float*>(out.get());
  const double bytes = 2 * static_cast<double>(sinograms * sinogram_bytes);
  const auto copy = [&] { device->copy(out.get(), in.get(), sinograms * sinogram_bytes, *queue); };
  copy();
  const double copy_ms = median_ms(*queue, copy);
  std::printf("450 sinograms of 1400x360, %s; a copy: %.3f ms, %.0f GB/s\n", device->info().name.c_str(), copy_ms,
              bytes / copy_ms * 1e-6);
  using enum FilterKind;
  int failures = 0;
  for (const Problem& p : {Problem{"box, 1-D, radius 30", box, 30, 1, -2},
                           {"box, 1-D, radius 5", box, 5, 1, -2},
                           {"Gaussian, 1-D, radius 30", gaussian, 30, 1, -2},
                           {"Gaussian, 1-D, radius 6", gaussian, 6, 1, -2},
                           {"bilateral, 1-D, radius 30", bilateral, 30, 1, 40},
                           {"median, 1-D, radius 5", median, 5, 1, 300},
                           {"median, 1-D, radius 30", median, 30, 1, 300},
                           {"median, 1-D, radius 50", median, 50, 1, 300},
                           {"box, 2-D, radius 30", box, 30, 2, 0},
                           {"Gaussian, 2-D, radius 30", gaussian, 30, 2, 0},
                           {"bilateral, 2-D, radius 10", bilateral, 10, 2, 0},
                           {"median, 2-D, radius 5", median, 5, 2, 0},
                           {"median, 2-D, radius 30", median, 30, 2, 0},
                           {"median, 2-D, radius 50", median, 50, 2, 0}}) {
    if (part && !std::strstr(p.name, part)) continue;
    FilterOptions options;
    options.kind = p.kind;
    options.radius = p.radius;
    options.dimensions = p.dimensions;
    options.sigma = static_cast<double>(p.radius) / 3;
    const auto filter_all = [&] { device->band_kernels().filter(from, to, options, uncut(from), *queue); };
    filter_all();
    const double error = error_of(p, options, different, out.get(), *queue);
    // Grey levels of 1: sums of 61 taps in another order; the median selects.
    if (!(error <= (p.kind == median ? 0 : 1e-5))) {
      std::printf("%-28s WRONG by %g: no time is given for a wrong result\n", p.name, error);
      ++failures;
      continue;
    }
    const double ms = median_ms(*queue, filter_all), bar = p.bar_ms < 0 ? -p.bar_ms * copy_ms : p.bar_ms;
    std::printf("%-28s %9.3f ms  %7.1f GB/s  error %.1e", p.name, ms, bytes / ms * 1e-6, error);
    if (bar > 0) std::printf("  bar %.3f ms: %s", bar, ms <= bar ? "met" : "MISSED");
    std::printf("\n");
    if (bar > 0 && ms > bar) ++failures;
  }
  return failures > 0;
}

}  // namespace
}  // namespace lepus::bench

// lepus_bench_cuda_filters [part of a problem's name]
int main(int count, char** arguments) {
  if (const std::string why = lepus::cuda::why_unusable(); !why.empty()) {
    std::printf("skipped: no GPU can be used (%s)\n", why.c_str());
    return 0;
  }
  try {
    return lepus::bench::run(count > 1 ? arguments[1] : nullptr);
  } catch (const lepus::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

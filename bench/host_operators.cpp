// SPDX-License-Identifier: Apache-2.0
// The operators A and A' on the host: 256^3 voxels of 1 mm and views of 624 x 480 pixels (source-axis 750 mm,
// source-detector 1200 mm), on a circle and with matrices that are all a little off; beside them FDK's backprojection
// with general matrices, of the same voxels and views. Times are of the processor, over the threads, the best of some
// repeats, so that other people's work on the machine counts little. Rates: FDK and A' in voxels x views, A (and A'
// once more) in samples, a ray's samples being the planes of voxels that it crosses; x FDK is the rate over FDK's.
// Before a time counts, <A x, y> = <x, A' y> must hold and a view is held against the reference in double precision.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "bench/measure/named_options.h"
#include "bench/suite/synthetic.h"
#include "core/memory.h"
#include "device/host/backprojector.h"
#include "device/host/band_store.h"
#include "project/ray_views.h"
#include <lepus/error.h>
#include <lepus/operator.h>

namespace lepus::bench {
namespace {

struct HostOptions {
  std::int64_t views = 128, size = 256;
  int threads = 2, repeats = 1;
  std::string model, orbit;  // one of them alone
};

const char* name_of(Orbit orbit) { return orbit == Orbit::circular ? "circular" : "general"; }
ScanGeometry geometry_of(const HostOptions& options, Orbit orbit) {
  return build_scan(c_arm_scan(624, 480, options.views, orbit));
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double dot(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

// Of `work`, per thread.
template <class Work>
double best_seconds(const HostOptions& options, const Work& work) {
  double best = 1e300;
  for (int i = 0; i < options.repeats; ++i) {
    const double start = processor_seconds();
    work();
    best = std::min(best, processor_seconds() - start);
  }
  return best / options.threads;
}

double updates(const HostOptions& options) {
  return std::pow(static_cast<double>(options.size), 3) * static_cast<double>(options.views);
}

// Planes that all rays cross together, from every eighth ray of both directions.
double samples(const HostOptions& options, const ScanGeometry& geometry) {
  constexpr std::int64_t step = 8;
  const VolumeGrid grid = cube_of_256_mm(options.size);
  const JosephGrid joseph = joseph_grid(grid);
  double planes = 0;
  for (const JosephView& view : joseph_views(geometry, grid))
    for (std::int64_t v = step / 2; v < geometry.rows; v += step)
      for (std::int64_t u = step / 2; u < geometry.columns; u += step) {
        const JosephLine line = joseph_line(view, joseph, static_cast<double>(u), static_cast<double>(v));
        planes += line.last - line.first;
      }
  return planes * step * step;
}

// FDK's backprojection with general matrices: updates per second.
double fdk_rate(const HostOptions& options) {
  const ScanGeometry geometry = geometry_of(options, Orbit::general);
  const VolumeGrid grid = cube_of_256_mm(options.size);
  const auto fdk = make_backprojector(geometry, grid, Interpolation::linear);
  std::vector<float> pixels(static_cast<std::size_t>(geometry.columns * geometry.rows));
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = synthetic_pixel(0, static_cast<unsigned>(i % 624), static_cast<unsigned>(i / 624));
  BandStore store(geometry.views(), geometry.columns, odd_cache_lines(geometry.rows));
  BandSet wedge{0, store.row_stride(), {}};
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    store.turn_to(view, {0, geometry.rows}, true);
    store.put(view, {0, geometry.rows}, pixels.data());
    wedge.bands.push_back(store.band(view));
  }
  Buffer<float> sums(grid.voxels());
  std::fill(sums.begin(), sums.end(), 0.0F);
  ThreadPool threads(options.threads);
  const double seconds = best_seconds(options, [&] {
    fdk->accumulate(wedge, {sums.data(), 0, grid.nz, grid.nz}, threads);
  });
  std::printf("FDK        general   %26.2f s, %.2f G/s (%s)\n", seconds, 1e-9 * updates(options) / seconds,
              fdk->description().c_str());
  return updates(options) / seconds;
}

bool measure(const HostOptions& options, const char* name, RayModel model, Orbit orbit, double fdk) {
  const ScanGeometry geometry = geometry_of(options, orbit);
  OperatorOptions host{model, {}};
  host.compute.backend = "cpu";
  host.compute.threads = options.threads;
  const Operator all(geometry, cube_of_256_mm(options.size), host);
  std::vector<float> x(static_cast<std::size_t>(all.voxels())), y(static_cast<std::size_t>(all.values()));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 1 + synthetic_pixel(static_cast<unsigned>(i >> 16), static_cast<unsigned>(i & 255),
                               static_cast<unsigned>(i >> 8 & 255));
  std::vector<float> back(x.size());
  const double forward_seconds = best_seconds(options, [&] { all.forward(x, y); });
  const double back_seconds = best_seconds(options, [&] { all.adjoint(y, back); });

  // One view by the reference, and the transpose by y = A x: <A x, A x> = <x, A' A x>.
  const std::int64_t one[] = {options.views / 5};
  host.compute.backend = "reference";
  const Operator reference = Operator(geometry, cube_of_256_mm(options.size), host).subset(one);
  std::vector<float> truth(static_cast<std::size_t>(reference.values()));
  reference.forward(x, truth);
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double found = static_cast<double>(y[static_cast<std::size_t>(one[0]) * truth.size() + i]);
    worst = std::max(worst, std::abs(found - static_cast<double>(truth[i])));
    largest = std::max(largest, std::abs(static_cast<double>(truth[i])));
  }
  const double mismatch = std::abs(dot(y, y) - dot(x, back)) / dot(y, y);
  const bool right = worst <= 1e-5 * largest && (model == RayModel::voxel || mismatch <= 1e-6);
  const double in_samples = samples(options, geometry);
  std::printf(
      "%-10s %-9s A %8.2f s (%.2f G samples/s, %.2f x FDK), A' %8.2f s (%.2f x FDK, in samples %.2f x); off by %.1e, "
      "transpose by %.1e%s\n",
      name, name_of(orbit), forward_seconds, 1e-9 * in_samples / forward_seconds, in_samples / forward_seconds / fdk,
      back_seconds, updates(options) / back_seconds / fdk, in_samples / back_seconds / fdk, worst / largest, mismatch,
      right ? "" : "  WRONG");
  return right;
}

int run(int count, char** words) {
  HostOptions options;
  measure::read_named_options(count, words, "A and A' on the host beside FDK, each checked before its time counts.",
                              {{"--views", &options.views},
                               {"--threads", &options.threads},
                               {"--size", &options.size, "voxels along each axis"},
                               {"--model", &options.model, "joseph, siddon, footprint or voxel"},
                               {"--orbit", &options.orbit, "circular or general"},
                               {"--repeats", &options.repeats}});
  const struct {
    const char* name;
    RayModel model;
  } models[] = {{"joseph", RayModel::joseph},
                {"voxel", RayModel::voxel},
                {"siddon", RayModel::siddon},
                {"footprint", RayModel::footprint}};
  bool right = true;
  const double fdk = fdk_rate(options);
  for (const auto& m : models)
    for (const Orbit orbit : {Orbit::circular, Orbit::general})
      if ((options.model.empty() || options.model == m.name) &&
          (options.orbit.empty() || options.orbit == name_of(orbit)))
        right = measure(options, m.name, m.model, orbit, fdk) && right;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace lepus::bench

int main(int count, char** words) {
  try {
    return lepus::bench::run(count, words);
  } catch (const lepus::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

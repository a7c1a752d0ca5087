// SPDX-License-Identifier: Apache-2.0
// The operators A and A' on the host: 256^3 voxels of 1 mm and views of 624 x 480 pixels (source-axis 750 mm,
// source-detector 1200 mm), on a circle and with matrices that are all a little off. Times are of the processor, over
// the threads, so that other people's work on the machine counts little. Before a time counts, <A x, y> = <x, A' y>
// must hold and some rays are held against the reference in double precision.
//   lepus_bench_host_operators [--views 128] [--threads 2] [--size 256] [--model joseph]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "bench/suite/synthetic.h"
#include <lepus/error.h>
#include <lepus/operator.h>

namespace lepus::bench {
namespace {

struct HostOptions {
  std::int64_t views = 128, size = 256;
  int threads = 2;
  const char* model = "";
};

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

bool measure(const HostOptions& options, const char* name, RayModel model, Orbit orbit) {
  const ScanGeometry geometry = build_scan(c_arm_scan(624, 480, options.views, orbit));
  OperatorOptions host{model, {}};
  host.compute.backend = "cpu";
  host.compute.threads = options.threads;
  const Operator all(geometry, cube_of_256_mm(options.size), host);
  std::vector<float> x(static_cast<std::size_t>(all.voxels())), y(static_cast<std::size_t>(all.values()));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 1 + synthetic_pixel(static_cast<unsigned>(i >> 16), static_cast<unsigned>(i & 255),
                               static_cast<unsigned>(i >> 8 & 255));
  std::vector<float> back(x.size());

  const double start = processor_seconds();
  all.forward(x, y);
  const double forward_done = processor_seconds();
  all.adjoint(y, back);
  const double end = processor_seconds();

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
  std::printf("%-10s %-9s A %8.2f s, A' %8.2f s; off by %.1e, transpose by %.1e%s\n", name,
              orbit == Orbit::circular ? "circular" : "general", (forward_done - start) / options.threads,
              (end - forward_done) / options.threads, worst / largest, mismatch, right ? "" : "  WRONG");
  return right;
}

int run(int count, char** words) {
  HostOptions options;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--views") == 0) options.views = std::atoll(words[i + 1]);
    if (std::strcmp(words[i], "--threads") == 0) options.threads = std::atoi(words[i + 1]);
    if (std::strcmp(words[i], "--size") == 0) options.size = std::atoll(words[i + 1]);
    if (std::strcmp(words[i], "--model") == 0) options.model = words[i + 1];
  }
  const struct {
    const char* name;
    RayModel model;
  } models[] = {{"joseph", RayModel::joseph},
                {"voxel", RayModel::voxel},
                {"siddon", RayModel::siddon},
                {"footprint", RayModel::footprint}};
  bool right = true;
  for (const auto& m : models)
    for (const Orbit orbit : {Orbit::circular, Orbit::general})
      if (*options.model == 0 || std::strcmp(options.model, m.name) == 0)
        right = measure(options, m.name, m.model, orbit) && right;
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

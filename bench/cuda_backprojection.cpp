// SPDX-License-Identifier: Apache-2.0
// Backprojection kernels on a CUDA device: 496 views of 1248 x 960 pixels of 0.32 mm, source-axis 750 mm,
// source-detector 1200 mm, into 512^3 voxels of 0.5 mm and 1024^3 of 0.25 mm. A circular orbit, and one whose matrices
// are all a little off. Times are CUDA events around the kernels; GUPS are voxel updates per second / 2^30.
// Each result is compared with the formulas in double precision on some thousand voxels before its time counts.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "bench/measure/named_options.h"
#include "bench/suite/synthetic.h"
#include "bench/suite/synthetic_views.h"
#include "cuda_kernels.h"
#include "core/format.h"
#include "core/threads.h"
#include <lepus/error.h>

namespace lepus::bench {
namespace {

using cuda::Precision;

struct Options {
  std::vector<std::int64_t> sizes{512, 1024};
  std::string only, shape, json;
  bool sweep = false, sectors = false;
  int repeats = 3, device = 0;
  std::int64_t views = 496, samples = 4000, per_launch = 0;
};

struct Case {
  const char* name;
  Orbit orbit;
  Precision precision;
  Interpolation interpolation;
  SampleErrors limits;
};

struct Result {
  std::string kernel, shape;
  std::int64_t size = 0;
  double milliseconds = 0, gups = 0, rms = 0, largest = 0, sector[2] = {0, 0};
};

class Bench {
public:
  explicit Bench(const Options& o) : o_(o) {}

  std::vector<Result> run(const Case& c, std::int64_t size) {
    const VolumeGrid grid = cube_of_256_mm(size);
    const ScanGeometry geometry = build_scan(c_arm_scan(1248, 960, o_.views, c.orbit));
    cuda::Backprojection backprojection(geometry, grid, c.precision, c.interpolation);
    ThreadPool pool;
    const auto samples = reference_samples(geometry, grid, c.interpolation, o_.samples, pool);
    const cuda::ViewTextures store = synthetic_store(backprojection, geometry);
    cuda::DeviceBuffer<float> volume(grid.voxels());

    std::vector<KernelShape> shapes{{"chosen", nullptr}};
    if (o_.sweep) {
      const auto more = kernel_shapes(backprojection.texel_kind());
      shapes.insert(shapes.end(), more.begin(), more.end());
    }
    std::vector<Result> results;
    for (const auto& shape : shapes) {
      if (!o_.shape.empty() && shape.name != o_.shape) continue;
      if (shape.launcher != nullptr) backprojection.use_kernel(shape.launcher);
      Result r{.kernel = c.name, .shape = shape.name, .size = size};
      cuda::fill_device(volume.data(), 0, static_cast<std::size_t>(volume.bytes()), "clear the volume");
      const cuda::Backprojection::Slab slab{volume.data(), 0, size};
      const auto views = static_cast<std::int64_t>(o_.views);
      backprojection.accumulate({&store, 0, 0, views}, slab, stream_.get());
      check(samples, volume, grid, c, r);
      r.milliseconds = 1e30;
      for (int i = 0; i < o_.repeats; ++i)
        r.milliseconds = std::min(r.milliseconds, time(backprojection, {&store, 0, 0, views}, slab));
      const double updates = static_cast<double>(grid.voxels()) / 1073741824.0;
      r.gups = updates * static_cast<double>(views) / (r.milliseconds / 1000);
      if (o_.sectors)  // rays near the y axis, rays near the x axis (of the first members, where views are grouped)
        for (int s = 0; s < 2; ++s) {
          const std::int64_t group = backprojection.view_block();
          const std::int64_t eighth = (group == 1 ? views / 8 : group == 2 ? views / 4 : views / 2) / group * group;
          const double t = time(backprojection, {&store, s * eighth, s * eighth, eighth}, slab);
          r.sector[s] = updates * static_cast<double>(eighth) / (t / 1000);
        }
      results.push_back(r);
      const std::string sectors = o_.sectors ? format("  y {:7.1f} x {:7.1f}", r.sector[0], r.sector[1]) : "";
      std::printf("%5lld %-22s %-26s %9.2f ms %8.1f GUPS%s  rms %.1e largest %.1e\n", static_cast<long long>(size),
                  c.name, shape.name.c_str(), r.milliseconds, r.gups, sectors.c_str(), r.rms, r.largest);
      std::fflush(stdout);
    }
    return results;
  }

private:
  double time(const cuda::Backprojection& backprojection, const cuda::Backprojection::Wedge& wedge,
              const cuda::Backprojection::Slab& slab) const {
    start_.record(stream_.get());
    const std::int64_t block = backprojection.view_block(),
                       step = o_.per_launch > 0 ? o_.per_launch * block : wedge.views;
    for (std::int64_t i = 0; i < wedge.views; i += step)
      backprojection.accumulate(
          {wedge.store, wedge.first_slot + i, wedge.first_view + i, std::min(step, wedge.views - i)}, slab,
          stream_.get());
    stop_.record(stream_.get());
    stop_.synchronize();
    return cuda::Event::milliseconds(start_, stop_);
  }

  void check(const std::vector<Sample>& samples, const cuda::DeviceBuffer<float>& volume, const VolumeGrid& grid,
             const Case& c, Result& r) const {
    stream_.synchronize();
    const SampleErrors errors = errors_of(samples, [&](const Sample& s) {
      float value = 0;
      cuda::check(cudaMemcpy(&value, volume.data() + (s.z * grid.ny + s.y) * grid.nx + s.x, sizeof value,
                             cudaMemcpyDeviceToHost),
                  "copy a voxel");
      return value;
    });
    r.rms = errors.rms;
    r.largest = errors.largest;
    if (!(r.rms <= c.limits.rms) || !(r.largest <= c.limits.largest))
      throw Error(ErrorKind::internal, {.what = "the result differs from the double-precision formulas",
                                        .where = format("{}, {}, {}^3", c.name, r.shape, r.size),
                                        .why = format("rms {:.2e}, largest {:.2e}", r.rms, r.largest),
                                        .hint = {}});
  }

  Options o_;
  cuda::Stream stream_;
  cuda::Event start_{cuda::Event::Timing::on}, stop_{cuda::Event::Timing::on};
};

Options parse(int argc, char** argv) {
  Options o;
  measure::read_named_options(argc, argv, "Backprojection by CUDA, each kernel checked before it is timed.",
                              {{"--size", &o.sizes, "voxels along each axis"},
                               {"--only", &o.only, "part of a kernel's name"},
                               {"--sweep", &o.sweep, "other shapes of the kernels, too"},
                               {"--sectors", &o.sectors},
                               {"--shape", &o.shape, "name of a shape"},
                               {"--per-launch", &o.per_launch, "groups"},
                               {"--repeats", &o.repeats},
                               {"--samples", &o.samples, "voxels that are checked"},
                               {"--device", &o.device},
                               {"--json", &o.json, "a file for the results"}});
  return o;
}

int main_program(int argc, char** argv) {
  const Options o = parse(argc, argv);
  if (const std::string why = cuda::why_unusable(); !why.empty()) {
    std::printf("skipped: no GPU can be used (%s)\n", why.c_str());
    return 0;
  }
  cuda::check(cudaSetDevice(o.device), format("use device {}", o.device));
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, o.device), "ask for the device's name");
  std::printf("%s, %d multiprocessors; %lld views of 1248 x 960\n", properties.name, properties.multiProcessorCount,
              static_cast<long long>(o.views));
  const Case cases[] = {
      {"general fast", Orbit::general, Precision::fast, Interpolation::linear, texture_limits},
      {"general half", Orbit::general, Precision::half, Interpolation::linear, texture_limits},
      {"general exact", Orbit::general, Precision::exact, Interpolation::linear, exact_limits},
      {"circular fast, pairs", Orbit::circular, Precision::fast, Interpolation::linear, texture_limits},
      {"circular half, quads", Orbit::circular, Precision::half, Interpolation::linear, texture_limits},
      {"cubic", Orbit::general, Precision::exact, Interpolation::cubic, {1e-5, 1e-4}},
      // Nearest takes the other pixel where a coordinate lies half-way between two.
      {"nearest", Orbit::general, Precision::exact, Interpolation::nearest, {1e-3, 1e-1}},
  };
  Bench bench(o);
  nlohmann::json all = nlohmann::json::array();
  bool failed = false;
  for (const auto& c : cases)
    for (const auto size : o.sizes) {
      if (!o.only.empty() && std::string(c.name).find(o.only) == std::string::npos) continue;
      if (o.only.empty() && c.interpolation != Interpolation::linear && (size > 512 || o.sweep)) continue;
      try {
        for (const auto& r : bench.run(c, size))
          all.push_back({{"kernel", r.kernel},
                         {"shape", r.shape},
                         {"size", r.size},
                         {"milliseconds", r.milliseconds},
                         {"gups", r.gups},
                         {"rms", r.rms},
                         {"largest", r.largest},
                         {"device", properties.name}});
      } catch (const Error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        failed = true;
      }
    }
  if (!o.json.empty()) {
    std::FILE* file = std::fopen(o.json.c_str(), "w");
    if (file == nullptr)
      throw Error(ErrorKind::disk, {.what = "cannot write", .where = o.json, .why = std::strerror(errno), .hint = {}});
    std::fprintf(file, "%s\n", all.dump(2).c_str());
    std::fclose(file);
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace lepus::bench

int main(int argc, char** argv) {
  try {
    return lepus::bench::main_program(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

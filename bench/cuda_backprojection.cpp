// SPDX-License-Identifier: Apache-2.0
// Backprojection kernels on a CUDA device: 496 views of 1248 x 960 pixels of 0.32 mm, source-axis 750 mm,
// source-detector 1200 mm, into 512^3 voxels of 0.5 mm and 1024^3 of 0.25 mm. A circular orbit, and one whose matrices
// are all a little off. Times are CUDA events around the kernels; GUPS are voxel updates per second / 2^30.
// Each result is compared with the formulas in double precision on some thousand voxels before its time counts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/cuda/backproject.h"
#include "backend/cuda/cuda_check.h"
#include "backend/cuda/devices.h"
#include "cuda_kernels.h"
#include "core/format.h"
#include "core/threads.h"
#include "geometry/camera.h"
#include "project/detector_point.h"
#include "project/interpolate.h"
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
  const char* scan;
  Precision precision;
  Interpolation interpolation;
  // Limits of the error against double precision, over the largest value: three times what was measured, rms and
  // largest. exact: 1.3e-6 and 6e-6 (single-precision coordinates, on views with noise in every pixel). The texture
  // unit's weights of 8 bits: 2.7e-5 and 1e-4; with fp16 texels 3.3e-5 and 1.3e-4.
  double rms, largest;
};

// general: every view's source and detector a little off, as on a real C-arm.
ScanGeometry geometry_named(const std::string& name, std::int64_t views) {
  CircularScan scan;
  scan.source_axis_mm = 750;
  scan.source_detector_mm = 1200;
  scan.columns = 1248;
  scan.rows = 960;
  scan.pixel_width_mm = scan.pixel_height_mm = 0.32;
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  if (name == "general") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> off(-1.0, 1.0);
    for (std::int64_t i = 0; i < views; ++i) {
      ViewPerturbation p;
      p.source_mm = {off(random), off(random), off(random)};
      p.detector_mm = {off(random), off(random), off(random)};
      p.in_plane_rad = 0.004 * off(random);
      p.pitch_rad = 0.004 * off(random);
      p.yaw_rad = 0.004 * off(random);
      p.angle_rad = 0.002 * off(random);
      scan.perturbations.push_back(p);
    }
  }
  return build_scan(scan);
}

struct Sample {
  std::int64_t x, y, z;
  double expected;
};

std::vector<Sample> reference_samples(const ScanGeometry& geometry, const VolumeGrid& grid, Interpolation interpolation,
                                      std::int64_t count) {
  std::mt19937_64 random(11);
  std::vector<Sample> samples(static_cast<std::size_t>(count));
  for (auto& s : samples)
    s = {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid.nx)),
         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid.ny)),
         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid.nz)), 0.0};
  std::vector<Matrix34> matrices;
  for (const auto& m : geometry.matrices) matrices.push_back(in_voxel_indices(m, grid));
  ThreadPool pool;
  pool.parallel_for(0, count, 16, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) {
      Sample& s = samples[static_cast<std::size_t>(i)];
      for (std::size_t view = 0; view < matrices.size(); ++view) {
        const auto p = detector_point(matrices[view].m.data(), geometry.beam, static_cast<double>(s.x),
                                      static_cast<double>(s.y), static_cast<double>(s.z));
        if (!in_front_of_source(p.w)) continue;
        s.expected += distance_weight(geometry.beam, p.w) * sample(interpolation, geometry.columns, geometry.rows, p.u,
                                                                   p.v, [&](std::int64_t column, std::int64_t row) {
                                                                     return made_up_pixel(static_cast<unsigned>(view),
                                                                                          static_cast<unsigned>(column),
                                                                                          static_cast<unsigned>(row));
                                                                   });
      }
    }
  });
  return samples;
}

struct Result {
  std::string kernel, shape;
  std::int64_t size = 0;
  double milliseconds = 0, gups = 0, rms = 0, largest = 0, sector[2] = {0, 0};
};

class Bench {
public:
  explicit Bench(const Options& o) : o_(o) {}

  std::vector<Result> run(const Case& c, std::int64_t size) {
    const double voxel = 256.0 / static_cast<double>(size);
    const VolumeGrid grid = centred_grid(size, size, size, {voxel, voxel, voxel});
    const ScanGeometry geometry = geometry_named(c.scan, o_.views);
    cuda::Backprojection backprojection(geometry, grid, c.precision, c.interpolation);
    const auto samples = reference_samples(geometry, grid, c.interpolation, o_.samples);
    const cuda::ViewTextures store = filled_store(backprojection, geometry);
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
      cuda::check(cudaMemset(volume.data(), 0, static_cast<std::size_t>(volume.bytes())), "clear the volume");
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
  cuda::ViewTextures filled_store(const cuda::Backprojection& backprojection, const ScanGeometry& geometry) const {
    cuda::ViewTextures store(backprojection.store_shape(o_.views, geometry.rows));
    store.set_scale(cuda::scale_for_half(2.0f));
    const std::int64_t batch = 16, view = geometry.columns * geometry.rows;
    cuda::DeviceBuffer<float> rows(batch * view);
    for (std::int64_t first = 0; first < o_.views; first += batch) {
      const std::int64_t count = std::min(batch, o_.views - first);
      fill_views(rows.data(), backprojection.view_order(), first, count, geometry.columns, geometry.rows);
      store.store({.data = rows.data(), .row_stride = geometry.columns, .view_stride = view}, first, count, 0,
                  geometry.rows, nullptr);
    }
    cuda::check(cudaDeviceSynchronize(), "fill the views");
    return store;
  }

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
    double differences = 0, largest = 0, maximum = 0;
    for (const auto& s : samples) {
      float value = 0;
      cuda::check(cudaMemcpy(&value, volume.data() + (s.z * grid.ny + s.y) * grid.nx + s.x, sizeof value,
                             cudaMemcpyDeviceToHost),
                  "copy a voxel");
      const double difference = std::isfinite(value) ? value - s.expected : 1e300;
      differences += difference * difference;
      largest = std::max(largest, std::abs(difference));
      maximum = std::max(maximum, std::abs(s.expected));
    }
    r.rms = std::sqrt(differences / static_cast<double>(samples.size())) / maximum;
    r.largest = largest / maximum;
    if (!(r.rms <= c.rms) || !(r.largest <= c.largest))
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
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    const bool has_value = i + 1 < argc;
    if (key == "--sweep")
      o.sweep = true;
    else if (key == "--sectors")
      o.sectors = true;
    else if (key == "--size" && has_value)
      o.sizes = {std::stoll(argv[++i])};
    else if (key == "--only" && has_value)
      o.only = argv[++i];
    else if (key == "--shape" && has_value)
      o.shape = argv[++i];
    else if (key == "--repeats" && has_value)
      o.repeats = std::stoi(argv[++i]);
    else if (key == "--samples" && has_value)
      o.samples = std::stoll(argv[++i]);
    else if (key == "--per-launch" && has_value)
      o.per_launch = std::stoll(argv[++i]);
    else if (key == "--device" && has_value)
      o.device = std::stoi(argv[++i]);
    else if (key == "--json" && has_value)
      o.json = argv[++i];
    else
      throw Error(
          ErrorKind::usage,
          {.what = "unknown option " + key,
           .where = {},
           .why = {},
           .hint = "lepus_bench_cuda_backprojection [--size 512|1024] [--only part-of-a-name] [--sweep] "
                   "[--sectors] [--shape name] [--per-launch groups] [--repeats 3] [--samples 4000] [--device 0] "
                   "[--json file]"});
  }
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
      {"general fast", "general", Precision::fast, Interpolation::linear, 1e-4, 4e-4},
      {"general half", "general", Precision::half, Interpolation::linear, 1e-4, 4e-4},
      {"general exact", "general", Precision::exact, Interpolation::linear, 4e-6, 1.5e-5},
      {"circular fast, pairs", "circular", Precision::fast, Interpolation::linear, 1e-4, 4e-4},
      {"circular half, quads", "circular", Precision::half, Interpolation::linear, 1e-4, 4e-4},
      {"cubic", "general", Precision::exact, Interpolation::cubic, 1e-5, 1e-4},
      // Nearest takes the other pixel where a coordinate lies half-way between two.
      {"nearest", "general", Precision::exact, Interpolation::nearest, 1e-3, 1e-1},
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

// SPDX-License-Identifier: Apache-2.0
// The operators A and A' in the memory of a GPU: 512^3 voxels of 0.5 mm and 496 views of 1248 x 960 pixels of 0.32 mm
// (source-axis 750 mm, source-detector 1200 mm), on a circle and with matrices that are all a little off; and 128^3
// voxels of 1 mm and 360 views of 256 x 192 pixels of 1.5 mm (500 and 1000 mm). Times are of the device's own clock,
// the best of some runs. Before a time counts, some thousand rays and some hundred voxels are held against sums in
// double precision.
// Beside them what iterative methods do between two uses of an operator: an iteration of SIRT, and one of FISTA with
// total variation (20 steps of its proximal map), of Joseph's pair.
//   lepus_bench_operators [--size 1024] [--repeats 2] [--only circular] [--model joseph] [--backend opencl]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "bench/measure/named_options.h"
#include "bench/suite/synthetic.h"
#include "core/format.h"
#include "device/device.h"
#include "device/ray_projector.h"
#include "device/vector_kernels.h"
#include "geometry/camera.h"
#include "project/detector_point.h"
#include "project/interpolate.h"
#include "project/ray_views.h"
#include "project/visit_voxels.h"
#include <lepus/error.h>

namespace lepus::bench {
namespace {

struct Options {
  std::int64_t size = 512;
  int repeats = 2;
  std::string only, model, backend = "cuda";
};

struct Kind {
  const char* name;
  RayModel model;
  Precision precision;
};
constexpr Kind kinds[] = {
    {"joseph exact", RayModel::joseph, Precision::exact}, {"joseph fast", RayModel::joseph, Precision::fast},
    {"voxel exact", RayModel::voxel, Precision::exact},   {"voxel fast", RayModel::voxel, Precision::fast},
    {"siddon", RayModel::siddon, Precision::exact},       {"footprint", RayModel::footprint, Precision::exact}};

struct Problem {
  std::string name;
  ScanGeometry geometry;
  VolumeGrid grid;
};

Problem c_arm(std::int64_t size, Orbit orbit) {
  return {format("{}^3, 496 views of 1248x960, {}", size, orbit == Orbit::circular ? "circular" : "general"),
          build_scan(c_arm_scan(1248, 960, 496, orbit)), cube_of_256_mm(size)};
}

Problem small() {
  CircularScan scan;
  scan.source_axis_mm = 500;
  scan.source_detector_mm = 1000;
  scan.columns = 256;
  scan.rows = 192;
  scan.pixel_width_mm = scan.pixel_height_mm = 1.5;
  for (int i = 0; i < 360; ++i) scan.angles_rad.push_back(i * pi / 180);
  return {"128^3, 360 views of 256x192, circular", build_scan(scan), centred_grid(128, 128, 128, {1, 1, 1})};
}

// Random values that repeat after a while: host and device have the same without moving them.
class Pattern {
public:
  Pattern() {
    std::mt19937 random(5);
    for (float& value : values_) value = static_cast<float>(random() % 1024) / 1024.0f;
  }
  double at(std::int64_t i) const { return static_cast<double>(values_[static_cast<std::size_t>(i % period)]); }
  void fill(float* out, std::int64_t size, Device& device, Queue& queue) const {
    std::int64_t filled = std::min(size, period);
    device.copy(out, values_.data(), filled * 4, queue);
    for (std::int64_t more = 0; filled < size; filled += more) {
      more = std::min(filled, size - filled);
      device.copy(out + filled, out, more * 4, queue);
    }
  }

private:
  static constexpr std::int64_t period = 1 << 20;
  std::vector<float> values_ = std::vector<float>(period);
};

struct RelativeError {
  double sum = 0, squares = 0;  // of differences, of values
  void add(double found, double expected) {
    sum += (found - expected) * (found - expected);
    squares += expected * expected;
  }
  double value() const { return std::sqrt(sum / squares); }
};

class Bench {
public:
  Bench(const Problem& problem, const Kind& kind, const Options& options)
      : problem_(problem),
        kind_(kind),
        repeats_(options.repeats),
        devices_(open_devices(compute_on(options.backend, "0", kind.precision), threads_)),
        queue_(device().make_queue()),
        job_(ray_views(problem.geometry, problem.grid)),
        voxels_(problem.grid.voxels()),
        values_(problem.geometry.views() * job_.pixels()),
        on_card_{device().allocate(4 * voxels_), device().allocate(4 * values_)} {
    RayProjectorSetup setup;
    setup.geometry = &problem_.geometry;
    setup.grid = problem.grid;
    setup.precision = kind.precision;
    setup.model = kind.model;
    projector_ = device().make_ray_projector(setup);
  }

  void run() {
    pattern_.fill(floats(0), voxels_, device(), *queue_);
    const double forward = seconds([&] { this->forward(); }), forward_error = error_of_lines();
    pattern_.fill(floats(1), values_, device(), *queue_);
    const double adjoint = seconds([&] { this->adjoint(); }), adjoint_error = error_of_voxels();
    std::printf("%-42s %-12s A %8.2f ms (error %.1e)  A' %8.2f ms (error %.1e)\n", problem_.name.c_str(), kind_.name,
                1e3 * forward, forward_error, 1e3 * adjoint, adjoint_error);
    if (kind_.model == RayModel::joseph && kind_.precision == Precision::exact) run_methods(forward + adjoint);
  }

private:
  Device& device() { return *devices_.front(); }
  float* floats(int which) { return reinterpret_cast<float*>(on_card_[which].get()); }
  RowBand rows() const { return {0, problem_.geometry.rows}; }
  SlabRange slices() const { return {0, problem_.grid.nz}; }

  void forward() {
    projector_->forward({floats(0), slices()}, {floats(1), 0, problem_.geometry.views(), rows()}, *queue_);
  }
  void adjoint() {
    device().clear(floats(0), 4 * voxels_, *queue_);
    projector_->adjoint({floats(1), 0, problem_.geometry.views(), rows()}, {floats(0), slices()}, *queue_);
  }

  // What the methods do, with whatever numbers: the time does not depend on them.
  void run_methods(double both) {
    VectorKernels& kernels = device().vector_kernels();
    const std::int64_t n = problem_.grid.voxels(), values = values_;
    const VolumeShape shape{problem_.grid.nx, problem_.grid.ny, problem_.grid.nz};
    const Block measured = device().allocate(4 * values_), state = device().allocate(20 * voxels_);
    auto* const b = reinterpret_cast<float*>(measured.get());
    auto* const x = reinterpret_cast<float*>(state.get());
    float *const y = floats(1), *const z = floats(0), *const scale = x + n,
                 *const dual[3] = {x + 2 * n, x + 3 * n, x + 4 * n};
    device().clear(x, 20 * voxels_, *queue_);
    device().clear(b, 4 * values_, *queue_);
    const auto residual = [&] {
      projector_->forward({x, slices()}, {y, 0, problem_.geometry.views(), rows()}, *queue_);
      kernels.combine(y, 1, b, -1, y, values, *queue_);
    };
    const double sirt = seconds([&] {
      residual();
      kernels.multiply(y, y, b, values, *queue_);
      adjoint();
      kernels.multiply(z, z, scale, n, *queue_);
      kernels.combine(x, 1, x, 1, z, n, *queue_);
    });
    float* const direction = scale;
    const double cgls = seconds([&] {
      projector_->forward({direction, slices()}, {y, 0, problem_.geometry.views(), rows()}, *queue_);
      kernels.dot(y, y, values, *queue_);
      kernels.combine(x, 1, x, 0.1F, direction, n, *queue_);
      kernels.combine(y, 1, b, -0.1F, y, values, *queue_);
      adjoint();
      kernels.dot(z, z, n, *queue_);
      kernels.combine(direction, 1, z, 0.1F, direction, n, *queue_);
      kernels.dot(y, y, values, *queue_);
    });
    const auto total_variation = [&] { kernels.total_variation_step(z, 0.1F, 0, 1, 20, dual, scale, shape, *queue_); };
    const double fista = seconds([&] {
      residual();
      adjoint();
      kernels.combine(z, 1, x, 0.1F, z, n, *queue_);
      total_variation();
      kernels.combine(x, 1.5F, scale, -0.5F, x, n, *queue_);
    });
    const double alone = seconds(total_variation);
    std::printf(
        "%-42s SIRT %.2f ms (A + A' and %.1f %%), CGLS %.2f ms, FISTA-TV %.2f ms (A + A' and %.1f ms), 20 steps alone "
        "%.2f ms\n",
        problem_.name.c_str(), 1e3 * sirt, 100 * (sirt / both - 1), 1e3 * cgls, 1e3 * fista, 1e3 * (fista - both),
        1e3 * alone);
  }

  template <class Work>
  double seconds(const Work& work) {
    const auto from = device().make_event(Timing::on), to = device().make_event(Timing::on);
    double best = 1e30;
    for (int i = 0; i <= repeats_; ++i) {
      from->mark(*queue_);
      work();
      to->mark(*queue_);
      to->wait();
      const double taken = to->seconds_since(*from);
      // The first one allocates, which does not count beside a second.
      if (i > 0 || taken > 1) best = std::min(best, taken);
      if (taken > 1) break;
    }
    return best;
  }

  float download(int which, std::int64_t at) {
    float value = 0;
    device().copy(&value, floats(which) + at, 4, *queue_);
    queue_->wait();
    return value;
  }

  double error_of_lines() {
    RelativeError error;
    std::mt19937_64 random(1);
    const IndexBox box = whole_grid(job_.grid);
    for (int i = 0; i < 2000; ++i) {
      const auto ray = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(values_));
      double sum = 0;
      visit_voxels<double>(kind_.model, job_.views[static_cast<std::size_t>(ray / job_.pixels())], job_.grid,
                           static_cast<double>(ray % job_.columns), static_cast<double>(ray / job_.columns % job_.rows),
                           box, [&](int x, int y, int z, double weight) {
                             const std::int64_t at =
                                 ((std::int64_t{z} - box.first[2]) * job_.grid.size[1] + y - box.first[1]) *
                                     job_.grid.size[0] +
                                 x - box.first[0];
                             sum += weight * pattern_.at(at);
                           });
      error.add(static_cast<double>(download(1, ray)), sum);
    }
    return error.value();
  }

  double error_of_voxels() {
    RelativeError error;
    std::mt19937_64 random(2);
    for (int i = 0; i < 8; ++i) {
      const auto voxel = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(voxels_));
      error.add(static_cast<double>(download(0, voxel)), expected_voxel(voxel));
    }
    return error.value();
  }

  // By the definition of the forward projection, of all pixels near the place where the voxel is seen; of the voxel
  // model by the sample there.
  double expected_voxel(std::int64_t voxel) const {
    const VolumeGrid& grid = problem_.grid;
    const std::int64_t at[3] = {voxel % grid.nx, voxel / grid.nx % grid.ny, voxel / grid.nx / grid.ny};
    IndexBox box;
    for (int k = 0; k < 3; ++k) {
      box.first[k] = static_cast<int>(at[k]) - job_.grid.middle[k];
      box.last[k] = box.first[k] + 1;
    }
    double sum = 0;
    for (std::int64_t view = 0; view < problem_.geometry.views(); ++view) {
      const Matrix34 m = in_voxel_indices(problem_.geometry.matrices[static_cast<std::size_t>(view)], grid);
      const auto seen = detector_point(m.m.data(), problem_.geometry.beam, static_cast<double>(at[0]),
                                       static_cast<double>(at[1]), static_cast<double>(at[2]));
      const auto value = [&](std::int64_t u, std::int64_t v) {
        return pattern_.at((view * job_.rows + v) * job_.columns + u);
      };
      if (kind_.model == RayModel::voxel) {
        sum += sample<double>(Interpolation::linear, job_.columns, job_.rows, seen.u, seen.v, value);
        continue;
      }
      constexpr std::int64_t near = 8;
      const auto u0 = static_cast<std::int64_t>(seen.u), v0 = static_cast<std::int64_t>(seen.v);
      for (std::int64_t v = std::max<std::int64_t>(0, v0 - near); v <= std::min(job_.rows - 1, v0 + near); ++v)
        for (std::int64_t u = std::max<std::int64_t>(0, u0 - near); u <= std::min(job_.columns - 1, u0 + near); ++u)
          visit_voxels<double>(kind_.model, job_.views[static_cast<std::size_t>(view)], job_.grid,
                               static_cast<double>(u), static_cast<double>(v), box,
                               [&](int, int, int, double weight) { sum += weight * value(u, v); });
    }
    return sum;
  }

  const Problem& problem_;
  Kind kind_;
  int repeats_;
  ThreadPool threads_;
  Devices devices_;
  std::unique_ptr<Queue> queue_;
  RayViews job_;
  Pattern pattern_;
  std::int64_t voxels_, values_;
  Block on_card_[2];
  std::unique_ptr<RayProjector> projector_;
};

Options read_options(int argc, char** argv) {
  Options o;
  measure::read_named_options(argc, argv, "A and A' on a GPU, each checked before it is timed.",
                              {{"--size", &o.size, "voxels along each axis"},
                               {"--repeats", &o.repeats},
                               {"--only", &o.only, "part of a problem's name"},
                               {"--model", &o.model, "joseph, siddon, footprint or voxel"},
                               {"--backend", &o.backend, "cuda or opencl"}});
  return o;
}

void run(const Options& options) {
  const Problem problems[] = {c_arm(options.size, Orbit::circular), small(), c_arm(options.size, Orbit::general)};
  for (const Problem& problem : problems) {
    if (problem.name.find(options.only) == std::string::npos) continue;
    const bool general =
        problem.name.find("general") != std::string::npos;  // matrices matter to Joseph's kernels alone
    const std::string model = options.model.empty() && general ? "joseph" : options.model;
    for (const Kind& kind : kinds)
      if (std::string(kind.name).find(model) != std::string::npos) Bench(problem, kind, options).run();
  }
}

}  // namespace
}  // namespace lepus::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);  // each line as it is done
  try {
    lepus::bench::run(lepus::bench::read_options(argc, argv));
  } catch (const lepus::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

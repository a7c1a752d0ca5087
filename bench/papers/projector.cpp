// SPDX-License-Identifier: Apache-2.0
// The multi-GPU projector: a volume of 1376 x 1376 x 373 voxels seen in 1200 views, volume in memory to pictures in
// memory, on one device and on four that share the views; and of 976 x 976 x 373 voxels, the operator A and its
// transpose. Some thousand rays are computed again in double precision; <A x, A x> is <x, A' A x>.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bench/papers/parts.h"
#include "bench/suite/samples.h"
#include "core/format.h"
#include "project/ray_views.h"
#include "project/visit_voxels.h"
#include <lepus/operator.h>

namespace lepus::bench {
namespace {

using measure::Figure;

// Three balls of different densities, hard at their rims.
void fill_balls(const VolumeGrid& grid, float* volume, ThreadPool& threads) {
  struct Body {
    Vec3 centre;
    double radius;
    float density;
  };
  const double half = 0.5 * static_cast<double>(grid.nx) * grid.step_mm.x,
               high = 0.5 * static_cast<double>(grid.nz) * grid.step_mm.z;
  const Body bodies[] = {{{0.3 * half, 0.2 * half, 0.1 * high}, 0.8 * high, 0.02F},
                         {{-0.4 * half, 0.1 * half, -0.3 * high}, 0.5 * high, 0.04F},
                         {{0, -0.5 * half, 0}, 0.9 * high, 0.01F}};
  threads.parallel_for(0, grid.nz, 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t z = first; z < last; ++z)
      for (std::int64_t y = 0; y < grid.ny; ++y) {
        float* row = volume + (z * grid.ny + y) * grid.nx;
        std::fill_n(row, grid.nx, 0.0F);
        for (const Body& body : bodies) {
          const Vec3 start = grid.centre(0, static_cast<double>(y), static_cast<double>(z)) - body.centre;
          const double rest = body.radius * body.radius - start.y * start.y - start.z * start.z;
          if (rest <= 0) continue;
          const double from = (-std::sqrt(rest) - start.x) / grid.step_mm.x,
                       to = (std::sqrt(rest) - start.x) / grid.step_mm.x;
          for (auto x = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(from)));
               x < grid.nx && static_cast<double>(x) <= to; ++x)
            row[x] += body.density;
        }
      }
  });
}

// The largest error of some thousand rays, over the largest line integral among them.
double sampled_error(const RayViews& scan, const float* volume, const float* line_integrals, ThreadPool& threads) {
  constexpr std::int64_t rays = 4000;
  const std::int64_t all = static_cast<std::int64_t>(scan.views.size()) * scan.pixels();
  const IndexBox box = whole_grid(scan.grid);
  const auto integral = [&](const JosephLine& line) {
    double sum = 0;
    visit_joseph(line, box, [&](int x, int y, int z, double weight) {
      const std::int64_t row = (std::int64_t{z} - box.first[2]) * scan.grid.size[1] + y - box.first[1];
      sum += weight * static_cast<double>(volume[row * scan.grid.size[0] + x - box.first[0]]);
    });
    return sum;
  };
  std::vector<double> off(rays), must(rays);
  threads.parallel_for(0, rays, 16, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t ray = all * i / rays + (i * 7919) % std::max<std::int64_t>(1, all / rays);
      const std::int64_t pixel = ray % scan.pixels();
      const JosephLine line =
          joseph_line(scan.views[static_cast<std::size_t>(ray / scan.pixels())], scan.grid,
                      static_cast<double>(pixel % scan.columns), static_cast<double>(pixel / scan.columns));
      must[static_cast<std::size_t>(i)] = integral(line);
      off[static_cast<std::size_t>(i)] =
          std::abs(static_cast<double>(line_integrals[ray]) - must[static_cast<std::size_t>(i)]);
    }
  });
  double worst = 0;
  for (const double e : off) keep_worst(worst, e);
  const double peak = *std::max_element(must.begin(), must.end());
  return peak > 0 ? worst / peak : std::numeric_limits<double>::quiet_NaN();
}

// A full turn of views that cover nx x nx x nz voxels.
CircularScan around(std::int64_t nx, std::int64_t nz, std::int64_t views, double voxel_mm) {
  CircularScan scan;
  scan.source_axis_mm = 700;
  scan.source_detector_mm = 1100;
  scan.columns = nx;
  scan.rows = nz;
  scan.pixel_width_mm = scan.pixel_height_mm = 1.02 * voxel_mm * scan.source_detector_mm / scan.source_axis_mm;
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return scan;
}

double dot(const float* a, const float* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// A and its exact transpose, host memory to host memory.
std::vector<Figure> operator_pair(const PaperRun& run) {
  constexpr std::int64_t full_nx = 976, full_nz = 373, full_views = 1200;
  const std::int64_t nx = scaled(full_nx, run.scale, 32), nz = scaled(full_nz, run.scale, 9);
  const std::int64_t views = scaled(full_views, run.scale, 16);
  const double voxel = 0.2 * full_nx / static_cast<double>(nx);
  const ScanGeometry geometry = build_scan(around(nx, nz, views, voxel));
  const VolumeGrid grid = centred_grid(nx, nx, nz, {voxel, voxel, voxel});
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::int64_t voxels = grid.voxels(), pixels = views * geometry.rows * geometry.columns;
  const std::shared_ptr<float> volume = host_floats(run, voxels), back = host_floats(run, voxels),
                               pictures = host_floats(run, pixels);
  fill_balls(grid, volume.get(), run.context.threads);
  OperatorOptions options;
  options.compute.backend = run.kind;
  options.compute.devices = format("{}", run.device);
  options.compute.precision = run.precision;
  const Operator a(geometry, grid, options);
  const bool texture_weights = run.gpu && run.precision != Precision::exact;
  const double ratio = static_cast<double>(nx * nx * nz) * static_cast<double>(views) /
                       (static_cast<double>(full_nx * full_nx * full_nz) * static_cast<double>(full_views));
  Figure f;
  f.group = "multi-GPU projector";
  f.name = "A, 976x976x373";
  f.unit = "GUPS";
  f.work = static_cast<double>(voxels) * static_cast<double>(views) / 0x1p30;
  f.note = format("{0}x{0}x{1}, {2} views of {3}x{4}, memory to memory; {5}", nx, nz, views, geometry.columns,
                  geometry.rows, a.description());
  f.seconds = best_of_repeats(run, [&] { a.forward({volume.get(), size(voxels)}, {pictures.get(), size(pixels)}); });
  f.error = sampled_error(ray_views(geometry, grid), volume.get(), pictures.get(), run.context.threads);
  f.error_limit = texture_weights ? 1.5e-4 / run.scale : 1e-5;
  f.error_of = "largest of 4000 rays against double precision, of the largest line integral";
  put_published(f, 7.5, "its forward projection, one card of 2013", ratio);
  std::vector<Figure> figures{f};
  f.name = "A', 976x976x373";
  f.seconds = best_of_repeats(run, [&] { a.adjoint({pictures.get(), size(pixels)}, {back.get(), size(voxels)}); });
  const double forward = dot(pictures.get(), pictures.get(), pixels);
  f.error = std::abs(forward - dot(volume.get(), back.get(), voxels)) / forward;
  f.error_limit = texture_weights ? 1e-3 : 1e-6;
  f.error_of = "<A x, A x> less <x, A' A x>, over the first";
  put_published(f, 16.3, "its backprojection, one card of 2013", ratio);
  figures.push_back(f);
  return figures;
}

}  // namespace

std::vector<Figure> projector_paper(const PaperRun& run) {
  constexpr std::int64_t full_nx = 1376, full_nz = 373, full_views = 1200;
  const std::int64_t nx = scaled(full_nx, run.scale, 32), nz = scaled(full_nz, run.scale, 9);
  const std::int64_t views = scaled(full_views, run.scale, 16);
  const double voxel = 0.2 * full_nx / static_cast<double>(nx);
  const CircularScan scan = around(nx, nz, views, voxel);
  const ScanGeometry geometry = build_scan(scan);
  const VolumeGrid grid = centred_grid(nx, nx, nz, {voxel, voxel, voxel});
  const std::shared_ptr<float> volume = host_floats(run, grid.voxels());
  fill_balls(grid, volume.get(), run.context.threads);
  const std::int64_t pixels = views * geometry.rows * geometry.columns;
  const std::shared_ptr<float> pictures = host_floats(run, pixels);
  const RayViews rays = ray_views(geometry, grid);
  const double samples = joseph_samples(geometry, grid);

  const auto measured = [&](const std::string& name, const std::string& devices) {
    std::fill_n(pictures.get(), pixels, std::nanf(""));
    Compute options;
    options.backend = run.kind;
    options.devices = devices;
    options.precision = run.precision;
    options.threads = run.context.threads.size();
    const Operator a(geometry, grid, {.compute = options});
    Figure f;
    f.group = "multi-GPU projector";
    f.name = name;
    f.seconds = best_of_repeats(run, [&] {
      a.forward({volume.get(), static_cast<std::size_t>(grid.voxels())},
                {pictures.get(), static_cast<std::size_t>(pixels)});
    });
    f.work = samples / 1e9;
    f.unit = "Gsamples/s";
    f.error = sampled_error(rays, volume.get(), pictures.get(), run.context.threads);
    // The texture unit's 8-bit weights only matter at the balls' rims: a ray meets a few, or grazes one, while the sum
    // grows with the size. Measured on an H200: 5.3e-5 at full size, 3.2e-4 at a scale of 0.15. Three times that.
    f.error_limit = run.gpu && run.precision != Precision::exact ? 1.5e-4 / run.scale : 1e-5;
    f.error_of = "largest of 4000 rays against double precision, of the largest line integral";
    f.note = format("{0}x{0}x{1} into {2} views of {3}x{4}, memory to memory; {5}, {6}", nx, nz, views,
                    geometry.columns, geometry.rows, run.how(), a.description());
    return f;
  };
  // Samples along a ray grow with nx, rays with columns x rows.
  const double ratio = static_cast<double>(nx * nx * nz) * static_cast<double>(views) /
                       (static_cast<double>(full_nx * full_nx * full_nz) * static_cast<double>(full_views));
  std::vector<Figure> figures;
  figures.push_back(measured(run.gpu ? "one device" : "all threads", format("{}", run.device)));
  put_published(figures.back(), 15.07, "multi-GPU projector, one Titan", ratio);
  if (run.gpu) {
    figures.push_back(measured("four devices", format("{0},{0},{0},{0}", run.device)));
    add_note(figures.back(), "four logical devices on one card: they share the views of one queue, and the card");
    put_published(figures.back(), 4.28, "multi-GPU projector, four Titans", ratio);
  }
  for (Figure& figure : operator_pair(run)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace lepus::bench

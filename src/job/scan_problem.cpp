// SPDX-License-Identifier: Apache-2.0
#include "job/scan_problem.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/memory.h"
#include "geometry/row_band.h"
#include "iterative/vectors.h"
#include "job/map_filters.h"
#include "operators/scan_map.h"
#include "run/float_bytes.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void check_memory(std::int64_t needed, const Compute& compute) {
  const std::int64_t limit = host_memory_limit(compute), left = limit - resident_bytes();
  if (needed <= left) return;
  throw Error(ErrorKind::memory, {.what = "the method's vectors do not fit into the memory",
                                  .where = {},
                                  .why = format("they need {}, {} of {} are left", format_bytes(needed),
                                                format_bytes(std::max<std::int64_t>(0, left)), format_bytes(limit)),
                                  .hint = "allow more with --memory, use fewer views or voxels, or take fdk"});
}

}  // namespace

ScanProblem::ScanProblem(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                         Context& context)
    : scan_(scan),
      kind_(method_kind(scan.method.name)),
      extended_(extended_grid(scan.grid, scan.method.extend)),
      lines_(scan, output, options, context),
      compute_(options.compute),
      options_(method_options(scan.method, scan.geometry.views(), 1)) {
  make_map();
  load_views(context);
  load_volumes();
  options_ = method_options(scan.method, scan.geometry.views(), noise_);
}

void ScanProblem::make_map() {
  const std::int64_t values = lines_.geometry().views() * lines_.values_per_view(), voxels = extended_.grid.voxels();
  const std::int64_t bytes = (kind_.data * values + kind_.volumes * voxels) * float_bytes;
  OperatorOptions options;
  options.model = ray_model(scan_.method.model);
  options.compute = compute_;
  map_ = make_scan_map(lines_.geometry(), extended_.grid, options, bytes);
  const Device& home = map_->home();
  if (home.info().host) check_memory(bytes, compute_);
  std::vector<float> mask;
  if (!scan_.method.mask.empty()) mask = read_volume_for(scan_.method.mask, scan_.grid, extended_, 0);
  for (float& value : mask) value = value == 0 ? 0.0F : 1.0F;
  problem_ = make_problem(*map_, kind_, mask);
  problem_.angles_rad = view_angles(lines_.geometry());
  const std::int64_t left =
      home.info().host ? host_memory_limit(compute_) - resident_bytes() : home.memory_limit_bytes();
  problem_.spare_bytes = std::max<std::int64_t>(0, (left - bytes) / 2);
  problem_.fdk = [this](const float* line_integrals, float* volume) { fdk_of(line_integrals, volume); };
  problem_.ramp = [this](float* line_integrals) {
    ramp_of_map(*map_, lines_.geometry(), compute_.threads, line_integrals);
  };
}

void ScanProblem::load_views(Context& context) {
  const bool by_counts = scan_.method.weights == "counts";
  const std::vector<float> intensity = by_counts ? lines_.relative_intensity() : std::vector<float>();
  const std::vector<float>& measured = lines_.measured();
  if (!measured.empty() && kind_.weights == MethodKind::Weights::refused)
    throw Error(ErrorKind::unsupported,
                {.what = format("{} cannot leave out pixels that were not measured", kind_.name),
                 .where = "method",
                 .why = "the arc detector does not cover the corners of the flat one",
                 .hint = "take cgls or os-sart"});
  std::vector<float> values(static_cast<std::size_t>(lines_.values_per_view())), weights;
  if (by_counts || !measured.empty()) weights.resize(values.size(), 1.0F);
  NoiseEstimate noise;
  const std::int64_t views = lines_.geometry().views();
  context.progress.begin("reading views", views);
  for (std::int64_t view = 0; view < views; ++view) {
    context.cancel.check();
    lines_.view(view, values);
    noise.add(values, lines_.geometry().columns);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = by_counts ? std::exp(-std::max(0.0F, values[i])) * (intensity.empty() ? 1.0F : intensity[i]) : 1.0F;
      if (!measured.empty()) weights[i] *= measured[i];
    }
    put_view(problem_, kind_, view, values, weights);
    context.progress.advance();
  }
  context.progress.end();
  finish_views(problem_, kind_);
  noise_ = scan_.method.noise.value_or(noise.rms(by_counts));
}

void ScanProblem::load_volumes() {
  const std::string& start = scan_.method.start;
  if (start == "fdk") {
    problem_.start = Vector(*problem_.map, problem_.map->voxels());
    Vector plain;  // FDK wants the line integrals as they are
    const Vector* data = &problem_.data;
    if (problem_.weights && kind_.weights == MethodKind::Weights::whitened) {
      plain = Vector(*problem_.map, problem_.data.size());
      Algebra(*problem_.map).divide(plain, problem_.data, problem_.weights);
      data = &plain;
    }
    fdk_of(data->data(), problem_.start.data());
  } else if (start != "zero") {
    problem_.start = volume_from(problem_, read_volume_for(start, scan_.grid, extended_, 0));
  }
  if (!scan_.method.prior.empty())
    problem_.prior = volume_from(problem_, read_volume_for(scan_.method.prior, scan_.grid, extended_, 0));
}

void ScanProblem::fdk_of(const float* line_integrals, float* volume) const {
  FdkOptions options;
  options.filter = scan_.filter;
  options.interpolation = scan_.interpolation;
  options.field_of_view_mask = scan_.field_of_view_mask;
  options.compute = compute_;
  options.compute.memory_bytes = 0;
  fdk_of_map(*map_, lines_.geometry(), extended_.grid, options, line_integrals, volume);
}

void ScanProblem::write(Vector& volume, VolumeWriter& writer) {
  const VolumeGrid& grid = scan_.grid;
  const double radius = scan_.field_of_view_mask ? field_of_view_radius_mm(lines_.geometry()) : INFINITY;
  const std::int64_t row = extended_.grid.nx, slice = row * extended_.grid.ny;
  std::vector<float> wide(static_cast<std::size_t>(slice)), out(static_cast<std::size_t>(grid.nx * grid.ny));
  Algebra algebra(*map_);
  for (std::int64_t z = 0; z < grid.nz; ++z) {
    algebra.copy_values(wide.data(), volume.data() + (z + extended_.z) * slice, slice);
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        const Vec3 at = grid.centre(static_cast<double>(x), static_cast<double>(y), 0);
        out[static_cast<std::size_t>(y * grid.nx + x)] =
            std::hypot(at.x, at.y) > radius ? 0
                                            : wide[static_cast<std::size_t>((y + extended_.y) * row + x + extended_.x)];
      }
    writer.write(z, z + 1, out.data());
  }
}

}  // namespace lepus

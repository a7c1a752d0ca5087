// SPDX-License-Identifier: Apache-2.0
#include "job/scan_problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/format.h"
#include "core/memory.h"
#include "core/output_lock.h"
#include "geometry/row_band.h"
#include "iterative/vectors.h"
#include "job/map_filters.h"
#include "job/method_memory.h"
#include "operators/pieces.h"
#include "operators/rank_map.h"
#include "operators/scan_map.h"
#include "ranks/agree.h"
#include "ranks/shared_sum.h"
#include "run/float_bytes.h"
#include <lepus/error.h>

namespace lepus {

ScanProblem::ScanProblem(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                         Context& context)
    : scan_(scan),
      kind_(method_kind(scan.method.name)),
      extended_(extended_grid(scan.grid, scan.method.extend)),
      ranks_(options.ranks && !options.ranks->alone() ? options.ranks : nullptr),
      lines_(scan, output, options, context),
      compute_(options.compute),
      options_(method_options(scan.method, scan.geometry.views(), 1)) {
  compute_.threads = context.threads.size();  // the launcher may have left this rank fewer than there are
  make_map(output);
  load_views(context);
  load_volumes();
  options_ = method_options(scan.method, scan.geometry.views(), noise_);
}

// Of the slices that rays of these rows meet.
std::unique_ptr<LinearMap> ScanProblem::map_of_rows(const VectorNeeds& needs) const {
  OperatorOptions options;
  options.model = ray_model(scan_.method.model);
  options.compute = compute_;
  const VolumeGrid& whole = extended_.grid;
  if (!ranks_) return make_scan_map(lines_.geometry(), whole, options, needs, files_ ? &*files_ : nullptr);
  const ScanGeometry& geometry = lines_.geometry();
  SlabRange met = SliceRows(geometry, whole).slices({0, geometry.views()}, {0, geometry.rows});
  if (met.slices() <= 0) met = {0, 1};  // rays that miss the volume miss a slice of it, too
  VolumeGrid grid = whole;
  grid.nz = met.slices();
  grid.origin_mm = whole.centre(0, 0, static_cast<double>(met.z0));
  return make_rank_map(*ranks_, make_scan_map(geometry, grid, options, needs), {whole.nx, whole.ny, whole.nz}, met.z0);
}

void ScanProblem::make_map(const std::filesystem::path& output) {
  const std::int64_t views = lines_.geometry().views(), voxels = extended_.grid.voxels();
  const VectorNeeds needs = vector_needs(kind_, options_, views, lines_.values_per_view(), voxels);
  const std::int64_t bytes = needs.bytes;
  map_ = map_of_rows(needs);
  const bool on_host = map_->vectors_on_host();
  if (on_host && ranks_) require_host_memory(bytes, compute_);
  // Drivers of devices have taken their memory by now.
  if (on_host && !ranks_)
    files_ = files_for_vectors(bytes, views, lines_.values_per_view(), compute_,
                               std::filesystem::absolute(followed(output)).parent_path());
  if (files_) {
    map_.reset();
    map_ = map_of_rows(needs);
    require_pieces(kind_, map_->shape(), *files_, compute_);
    if (uses_fdk(scan_.method)) require_fdk_beside(*files_, lines_.geometry(), extended_.grid, fdk_options());
  }
  problem_ = make_problem(*map_, kind_);
  if (!scan_.method.mask.empty())
    problem_.mask = load_volume(scan_.method.mask, 1, [](float value) { return value == 0 ? 0.0F : 1.0F; });
  problem_.angles_rad = view_angles(lines_.geometry());
  problem_.spare_bytes = spare_bytes(bytes, map_->vectors_on_host(), map_->home(), compute_);
  problem_.fdk = [this](const float* line_integrals, float* volume) {
    ranks_ ? fdk_over_ranks(line_integrals, volume) : fdk_of(line_integrals, volume);
  };
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
  // Read, and looked at, by one thread each; handed over in their order.
  struct ReadView {
    std::vector<float> values, weights;
    NoiseEstimate::View noise;
  };
  const std::int64_t views = lines_.geometry().views(), columns = lines_.geometry().columns;
  const auto pixels = static_cast<std::size_t>(lines_.values_per_view());
  const auto read = [&](std::int64_t view, ReadView& out) {
    out.values.resize(pixels);
    lines_.view(view, out.values);
    out.noise = NoiseEstimate::of_view(view, out.values, columns, lines_.rows().first * columns);
    out.weights.resize(by_counts || !measured.empty() ? pixels : 0);
    for (std::size_t i = 0; i < out.weights.size(); ++i) {
      const float counts = by_counts ? std::exp(-std::max(0.0F, out.values[i])) : 1.0F;
      out.weights[i] = counts * (intensity.empty() ? 1.0F : intensity[i]) * (measured.empty() ? 1.0F : measured[i]);
    }
  };
  NoiseEstimate noise(views, lines_.values_per_view());
  // Where the vectors go to files, memory is short.
  std::vector<ReadView> at_once(files_ ? 1 : static_cast<std::size_t>(context.threads.size()));
  context.progress.begin("reading views", views);
  for (std::int64_t first = 0; first < views; first += std::ssize(at_once)) {
    const std::int64_t count = std::min(std::ssize(at_once), views - first);
    context.cancel.check();
    context.threads.parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) read(first + i, at_once[static_cast<std::size_t>(i)]);
    });
    for (std::int64_t i = 0; i < count; ++i) {
      const ReadView& view = at_once[static_cast<std::size_t>(i)];
      noise.add(view.noise);
      put_view(problem_, kind_, first + i, view.values, view.weights);
      context.progress.advance();
    }
  }
  context.progress.end();
  finish_views(problem_, kind_);
  if (ranks_) {
    const std::vector<double> negative = numbers_of_all(*ranks_, static_cast<double>(problem_.negative_values));
    problem_.negative_values = static_cast<std::int64_t>(std::accumulate(negative.begin(), negative.end(), 0.0));
  }
  noise_ = scan_.method.noise.value_or(noise.rms(by_counts, ranks_));
}

void ScanProblem::load_volumes() {
  const std::string& start = scan_.method.start;
  if (start == "fdk") {
    problem_.start = Vector(*problem_.map, problem_.map->voxels());
    Vector plain;  // FDK wants the line integrals as they are
    const Vector* data = &problem_.data;
    if (problem_.weights && kind_.weights == MethodKind::Weights::whitened) {
      plain = Vector::of_line_integrals(*problem_.map);
      Algebra(*problem_.map).divide(plain, problem_.data, problem_.weights);
      data = &plain;
    }
    problem_.fdk(data->data(), problem_.start.data());
  } else if (start != "zero") {
    problem_.start = load_volume(start);
  }
  if (!scan_.method.prior.empty()) problem_.prior = load_volume(scan_.method.prior);
}

Vector ScanProblem::load_volume(const std::string& file, float beyond, float (*change)(float)) {
  Vector volume = Vector::of_volume(*problem_.map);
  Algebra algebra(*problem_.map);
  const std::int64_t slice = extended_.grid.nx * extended_.grid.ny;
  read_volume_for(file, scan_.grid, extended_, beyond, [&](std::int64_t z, std::span<float> voxels) {
    if (change)
      for (float& value : voxels) value = change(value);
    algebra.copy_values(volume.data() + z * slice, voxels.data(), slice);
  });
  return volume;
}

FdkOptions ScanProblem::fdk_options() const {
  FdkOptions options;
  options.filter = scan_.filter;
  options.interpolation = scan_.interpolation;
  options.field_of_view_mask = scan_.field_of_view_mask;
  options.compute = compute_;
  options.compute.memory_bytes = files_ ? resident_bytes() + files_->work_bytes : 0;
  return options;
}

void ScanProblem::fdk_of(const float* line_integrals, float* volume) const {
  fdk_of_map(*map_, lines_.geometry(), extended_.grid, fdk_options(), line_integrals, volume);
}

// All rows to all ranks, then each makes some of the slices, and all get them. Rows are brought together by a sum in
// which those of others are zero.
void ScanProblem::fdk_over_ranks(const float* line_integrals, float* volume) const {
  const ScanGeometry& whole = lines_.whole_geometry();
  const std::int64_t view_values = whole.rows * whole.columns, values = whole.views() * view_values;
  const std::int64_t own = lines_.values_per_view(), before = lines_.rows().first * whole.columns;
  if (map_->home().info().host)
    require_host_memory((values + 2 * map_->voxels() / ranks_->size()) * float_bytes, compute_);
  std::vector<float> all(static_cast<std::size_t>(values));
  Algebra algebra(*map_);
  for (std::int64_t view = 0; view < whole.views(); ++view)
    algebra.copy_values(all.data() + view * view_values + before, line_integrals + view * own, own);
  SharedSum(*ranks_, values, {0, values})(all.data());

  const VolumeGrid& grid = extended_.grid;
  const std::int64_t slice = grid.nx * grid.ny;
  const ArrayRange slices = share_of_rank(grid.nz, ranks_->rank(), ranks_->size());
  std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()));
  if (slices.size() > 0) {
    VolumeGrid slab = grid;
    slab.nz = slices.size();
    slab.origin_mm = grid.centre(0, 0, static_cast<double>(slices.first));
    fdk(whole, all, slab,
        std::span(voxels).subspan(static_cast<std::size_t>(slices.first * slice),
                                  static_cast<std::size_t>(slices.size() * slice)),
        fdk_options());
  }
  SharedSum(*ranks_, grid.voxels(), {slices.first * slice, slices.last * slice})(voxels.data());
  algebra.copy_values(volume, voxels.data(), grid.voxels());
}

void ScanProblem::write(Vector& volume, VolumeWriter& writer) {
  const bool whole = scan_.method.whole;
  const ExtendedGrid around = whole ? ExtendedGrid{extended_.grid} : extended_;
  const VolumeGrid& grid = whole ? extended_.grid : scan_.grid;
  const double radius =
      scan_.field_of_view_mask && !whole ? field_of_view_radius_mm(lines_.whole_geometry()) : INFINITY;
  const std::int64_t row = extended_.grid.nx, slice = row * extended_.grid.ny;
  std::vector<float> wide(static_cast<std::size_t>(slice)), out(static_cast<std::size_t>(grid.nx * grid.ny));
  Algebra algebra(*map_);
  for (std::int64_t z = 0; z < grid.nz; ++z) {
    algebra.copy_values(wide.data(), volume.data() + (z + around.z) * slice, slice);
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        const Vec3 at = grid.centre(static_cast<double>(x), static_cast<double>(y), 0);
        out[static_cast<std::size_t>(y * grid.nx + x)] =
            std::hypot(at.x, at.y) > radius ? 0 : wide[static_cast<std::size_t>((y + around.y) * row + x + around.x)];
      }
    writer.write(z, z + 1, out.data());
  }
}

}  // namespace lepus

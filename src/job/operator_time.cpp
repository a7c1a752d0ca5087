// SPDX-License-Identifier: Apache-2.0
#include "job/operator_time.h"

#include <algorithm>

#include "core/fastest.h"
#include "iterative/vectors.h"
#include "job/line_integrals.h"
#include "operators/pieces.h"

namespace lepus {
namespace {

double ratio(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

// Of one iteration on the problem, and how many subsets it has.
double time_step(const MethodOptions& options, const TrialProblem& problem, LinearMap& home, std::int64_t& subsets) {
  MethodTrial trial(options, problem, home.home(), home.queue());
  trial.step();  // the first one makes what later ones keep
  const std::int64_t before = trial.uses().subsets;
  trial.step();
  subsets = std::max<std::int64_t>(1, trial.uses().subsets - before);
  return fastest_seconds([&] { trial.step(); });
}

}  // namespace

ScanPiece piece_of(const ScanGeometry& geometry, const VolumeGrid& grid, std::int64_t views_at_once,
                   std::int64_t updates) {
  constexpr std::int64_t enough_slices = 8;  // thinner slabs are mostly rays that enter and leave
  constexpr std::int64_t usual_views = 8;
  const std::int64_t slice = grid.nx * grid.ny, views = geometry.views();
  const std::int64_t slices =
      std::clamp(updates / usual_views / slice, std::min(enough_slices, grid.nz), std::max<std::int64_t>(1, grid.nz));
  const std::int64_t some = std::clamp<std::int64_t>(updates / (slices * slice), 1, views_at_once);
  ScanPiece piece{geometry, grid, ratio(slices * some, grid.nz * views)};
  piece.grid.nz = slices;
  piece.grid.origin_mm = grid.centre(0, 0, static_cast<double>((grid.nz - slices) / 2));
  piece.geometry.matrices.clear();
  for (std::int64_t i = 0; i < some; ++i)
    piece.geometry.matrices.push_back(geometry.matrices[static_cast<std::size_t>(i * views / some)]);
  RowBand rows = SliceRows(piece.geometry, piece.grid).rows({0, some}, {0, slices});
  if (rows.size() <= 0) rows = {0, 1};  // these views do not see it
  piece.geometry = with_rows(std::move(piece.geometry), rows);
  return piece;
}

OperatorTime time_operator(const ScanPiece& piece, LinearMap& map) {
  Vector volume = Vector::of_volume(map), lines = Vector::of_line_integrals(map);
  Algebra(map).fill(volume, 0.5F);
  OperatorTime time;
  time.forward = fastest_seconds([&] {
                   map.forward(volume.data(), lines.data());
                   map.queue().wait();
                 }) /
                 piece.share;
  time.adjoint = fastest_seconds([&] {
                   map.adjoint(lines.data(), volume.data());
                   map.queue().wait();
                 }) /
                 piece.share;
  return time;
}

double time_vectors(const MethodOptions& options, const TrialProblem& whole, std::int64_t subsets, LinearMap& home) {
  const std::int64_t budget = home.home().info().host ? 1 << 21 : 1 << 25;  // elements of all subsets together
  TrialProblem volumes = whole;
  volumes.views = options.subsets;
  volumes.values_per_view = 1;
  const std::int64_t slice = whole.shape.nx * whole.shape.ny;
  volumes.shape.nz =
      std::clamp<std::int64_t>(budget / (slice * volumes.views), 1, std::max<std::int64_t>(1, whole.shape.nz));
  volumes.spare_bytes =
      static_cast<std::int64_t>(static_cast<double>(whole.spare_bytes) * ratio(volumes.shape.nz, whole.shape.nz));
  std::int64_t timed = 1;
  double seconds = time_step(options, volumes, home, timed);
  seconds *= ratio(whole.shape.nz, volumes.shape.nz) * ratio(subsets, timed);

  TrialProblem lines = whole;
  lines.shape = {1, 1, 1};
  lines.views = options.subsets;
  const std::int64_t values = whole.views * whole.values_per_view;
  lines.values_per_view = std::clamp<std::int64_t>(budget / lines.views, 1, (values + lines.views - 1) / lines.views);
  return seconds + time_step(options, lines, home, timed) * ratio(values, lines.views * lines.values_per_view);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// How long a method's operator and its work on vectors take for a whole scan, timed on small pieces of it.
#pragma once

#include <cstdint>

#include "iterative/method_trial.h"
#include "operators/linear_map.h"
#include <lepus/geometry.h>

namespace lepus {

// A slab in the middle of the volume, some views spread over the orbit, and the rows that see it. Every sample of a ray
// lies in one slab, so that what A takes grows with the slices, as its transpose's time does, and both with the views.
struct ScanPiece {
  ScanGeometry geometry;
  VolumeGrid grid;
  double share = 1;  // of the scan's voxels x views
};
// About `updates` voxels x views, of no more views than the method uses at once.
ScanPiece piece_of(const ScanGeometry& geometry, const VolumeGrid& grid, std::int64_t views_at_once,
                   std::int64_t updates);

// Seconds of all views once.
struct OperatorTime {
  double forward = 0, adjoint = 0;
};
OperatorTime time_operator(const ScanPiece& piece, LinearMap& map);

// Seconds of an iteration's work on vectors, without the operator: volumes and line integrals of a few megabytes each.
// subsets: that the whole problem has in an iteration.
double time_vectors(const MethodOptions& options, const TrialProblem& whole, std::int64_t subsets, LinearMap& home);

}  // namespace lepus

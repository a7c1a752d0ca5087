// SPDX-License-Identifier: Apache-2.0
#include "operators/scan_operator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include "geometry/camera.h"
#include "geometry/check_scan.h"
#include "operators/chunk_queue.h"
#include "operators/vector_memory.h"
#include <lepus/error.h>

namespace lepus {
namespace {

const ScanGeometry& checked_scan(const ScanGeometry& geometry, const VolumeGrid& grid) {
  check_scan(geometry, "an operator");
  check_grid(grid);
  check_views(geometry);
  return geometry;
}

const char* name_of(RayModel model) {
  switch (model) {
    case RayModel::joseph:
      return "Joseph's rays";
    case RayModel::siddon:
      return "Siddon's rays";
    case RayModel::footprint:
      return "separable footprints";
    case RayModel::voxel:
      break;
  }
  return "Joseph's rays, unmatched voxel transpose";
}

}  // namespace

ScanOperator::ScanOperator(const ScanGeometry& geometry, const VolumeGrid& grid, const OperatorOptions& options,
                           ForcedCut forced)
    : ScanOperator(geometry, grid, options, forced, std::make_shared<OperatorDevices>(options.compute)) {}

ScanOperator::ScanOperator(const ScanGeometry& geometry, const VolumeGrid& grid, const OperatorOptions& options,
                           ForcedCut forced, std::shared_ptr<OperatorDevices> machines)
    : geometry_(checked_scan(geometry, grid)),
      grid_(grid),
      options_(options),
      forced_(forced),
      pieces_(geometry_, grid_),
      machines_(std::move(machines)) {
  const std::scoped_lock lock(machines_->one_at_a_time);
  const Precision precision =
      options.compute.precision == Precision::half ? Precision::fast : options.compute.precision;
  for (const auto& device : machines_->devices)
    projectors_.push_back(device->make_ray_projector({&geometry_, grid_, options.model, precision}));
}

std::string ScanOperator::description() const {
  std::string where;
  for (const auto& device : machines_->devices) where += (where.empty() ? "" : ", ") + device->info().name;
  return format("{}: {}; {}", name_of(options_.model), projector().description(), where);
}

std::unique_ptr<ScanOperator> ScanOperator::subset(std::span<const std::int64_t> views) const {
  ScanGeometry part = geometry_;
  part.matrices.clear();
  for (const std::int64_t view : views) {
    if (view < 0 || view >= geometry_.views())
      throw Error(ErrorKind::usage, {.what = format("there is no view {} to take into a subset", view),
                                     .where = {},
                                     .why = format("the scan has {}", geometry_.views()),
                                     .hint = {}});
    part.matrices.push_back(geometry_.matrices[static_cast<std::size_t>(view)]);
  }
  return std::make_unique<ScanOperator>(part, grid_, options_, forced_, machines_);
}

OperatorSizes ScanOperator::sizes(bool volume_there) const {
  std::int64_t smallest = forced_.vectors ? forced_.vectors->operator_bytes() : forced_.device_bytes;
  if (smallest == 0) {
    smallest = machines_->devices.front()->memory_limit_bytes();
    for (const auto& device : machines_->devices) smallest = std::min(smallest, device->memory_limit_bytes());
  }
  return {geometry_,
          grid_,
          pieces_,
          projector(),
          smallest,
          static_cast<std::int64_t>(projectors_.size()),
          machines_->devices.front()->info().host,
          volume_there};
}

OperatorPlan ScanOperator::forward_plan(bool volume_there) const {
  try {
    return plan_forward(sizes(volume_there));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || !forced_.vectors || volume_there) throw;
    return plan_forward(sizes(true));
  }
}

bool ScanOperator::is_there(const float* volume) const { return forced_.vectors && forced_.vectors->on_device(volume); }

bool ScanOperator::in_place(ArrayPlace place, const float* volume) const {
  if (forced_.home) return false;
  if (forced_.vectors)  // line integrals are read and written once, wherever they lie
    return is_there(volume) &&
           projector().work_bytes(grid_.nz, geometry_.views(), geometry_.rows) <= forced_.vectors->operator_bytes();
  const bool alone = projectors_.size() == 1;
  if (place == ArrayPlace::device && !alone)
    throw Error(ErrorKind::usage, {.what = "arrays in a device's memory need an operator with that device alone",
                                   .where = {},
                                   .why = format("this one has {} devices", projectors_.size()),
                                   .hint = "hand over arrays in host memory"});
  return place == ArrayPlace::device || (alone && machines_->devices.front()->info().host && forced_.device_bytes == 0);
}

void ScanOperator::forward(const float* volume, float* line_integrals, ArrayPlace place) const {
  const std::scoped_lock lock(machines_->one_at_a_time);
  if (in_place(place, volume)) {
    Queue& queue = *machines_->queues.front();
    projectors_.front()->forward({volume, {0, grid_.nz}}, {line_integrals, 0, geometry_.views(), {0, geometry_.rows}},
                                 queue);
    if (place == ArrayPlace::host) queue.wait();
    return;
  }
  share_chunks(forward_plan(is_there(volume)),
               [&](std::size_t worker, ChunkQueue& chunks) { forward_chunks(worker, volume, line_integrals, chunks); });
}

void ScanOperator::adjoint(const float* line_integrals, float* volume, ArrayPlace place) const {
  const std::scoped_lock lock(machines_->one_at_a_time);
  if (in_place(place, volume)) {
    Queue& queue = *machines_->queues.front();
    machines_->devices.front()->clear(volume, grid_.voxels() * std::int64_t{sizeof(float)}, queue);
    projectors_.front()->adjoint({line_integrals, 0, geometry_.views(), {0, geometry_.rows}}, {volume, {0, grid_.nz}},
                                 queue);
    if (place == ArrayPlace::host) queue.wait();
    return;
  }
  share_chunks(adjoint_plan(is_there(volume)),
               [&](std::size_t worker, ChunkQueue& chunks) { adjoint_chunks(worker, line_integrals, volume, chunks); });
}

void ScanOperator::adjoint_by_slabs(const float* line_integrals, const UseSlab& use) const {
  const std::scoped_lock lock(machines_->one_at_a_time);
  const OperatorPlan plan = adjoint_plan();
  ChunkQueue chunks(plan);
  adjoint_chunks(0, line_integrals, nullptr, chunks, use);
}

}  // namespace lepus

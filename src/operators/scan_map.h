// SPDX-License-Identifier: Apache-2.0
// A scan's operator as the linear map that iterative methods are written against.
#pragma once

#include <cstdint>
#include <memory>

#include "device/files/device.h"
#include "operators/linear_map.h"
#include <lepus/operator.h>

namespace lepus {

class ScanOperator;
struct OperatorDevices;

// Of a method.
struct VectorNeeds {
  std::int64_t bytes = 0;       // of all its vectors
  std::int64_t part_bytes = 0;  // of the line integrals of its largest subset
  bool may_spread = false;      // it reads and writes each vector a few times a step, so that some may lie on the host
};

// Whether the operator has one device alone whose memory holds `method_bytes` (what a method keeps in vectors) beside
// the operator's own.
bool holds_vectors(const ScanOperator& scan, std::int64_t method_bytes);
// Where it does not: whether some of them lie there and the others on the host, within the device's reach.
bool spreads_vectors(const ScanOperator& scan, const VectorNeeds& needs);

// The vectors' home is the operator's device where it holds them, or some of them (operators/vector_memory.h); else the
// host, and pieces travel. With `files` it is these, and the host's operator works on pieces of files->work_bytes:
// throws Error(memory) where not even the thinnest one fits, Error(disk) where there is not so much space.
std::unique_ptr<LinearMap> make_scan_map(const ScanGeometry& geometry, const VolumeGrid& grid,
                                         const OperatorOptions& options, const VectorNeeds& needs,
                                         const files::Setup* files = nullptr);
// Memory for vectors on one device, which takes no more than `device_bytes`, and on the host: all of it on the host
// where the operator needs the device for itself. Throws Error(memory) where that is too little, too.
std::unique_ptr<VectorMemory> make_vector_memory(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                 const OperatorOptions& options, std::int64_t device_bytes,
                                                 std::int64_t part_bytes,
                                                 const std::shared_ptr<OperatorDevices>& machines);
// With vectors in such memory.
std::unique_ptr<LinearMap> make_spread_map(const ScanGeometry& geometry, const VolumeGrid& grid,
                                           const OperatorOptions& options, std::int64_t device_bytes,
                                           std::int64_t part_bytes, std::shared_ptr<OperatorDevices> machines = {});

}  // namespace lepus

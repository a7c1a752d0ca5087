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

// Whether the operator has one device alone whose memory holds `method_bytes` (what a method keeps in vectors) beside
// the operator's own.
bool holds_vectors(const ScanOperator& scan, std::int64_t method_bytes);

// The vectors' home is the operator's device where it holds them; else the host, and pieces travel. With `files` it is
// these, and the host's operator works on pieces of files->work_bytes: throws Error(memory) where not even the thinnest
// one fits, Error(disk) where there is not so much space.
std::unique_ptr<LinearMap> make_scan_map(const ScanGeometry& geometry, const VolumeGrid& grid,
                                         const OperatorOptions& options, std::int64_t method_bytes,
                                         const files::Setup* files = nullptr);

}  // namespace lepus

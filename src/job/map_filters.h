// SPDX-License-Identifier: Apache-2.0
// FDK and the ramp filter on vectors of a scan's linear map, wherever these lie: what iterative FDK and ramp-filtered
// gradients need beside the map itself (Problem::fdk and Problem::ramp).
#pragma once

#include "device/files/device.h"
#include "operators/linear_map.h"
#include <lepus/reconstruct.h>

namespace lepus {

// The geometry and grid are the map's.
void fdk_of_map(LinearMap& map, const ScanGeometry& geometry, const VolumeGrid& grid, const FdkOptions& options,
                const float* line_integrals, float* volume);
// Whether there is memory for it beside vectors in files, before any work: throws Error(memory).
void require_fdk_beside(const files::Setup& files, const ScanGeometry& geometry, const VolumeGrid& grid,
                        FdkOptions options);
// In place. threads: of the host; 0: one per hardware thread.
void ramp_of_map(LinearMap& map, const ScanGeometry& geometry, int threads, float* line_integrals);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The CPU backend: SIMD kernels in single precision, chosen at run time for the machine and by looking at the matrices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/backend.h"

namespace lepus {

// target: a SIMD target by Highway's name ("SSE4", "AVX2", "AVX3", ...) for tests and benchmarks; "" is the best one.
// Throws Error(usage) where this machine cannot run it.
std::unique_ptr<Backend> make_cpu_backend(const std::string& target = "");
// The sum of the views at each voxel's centre, linear between pixels, without FDK's weight.
std::unique_ptr<Backprojector> make_unweighted_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid);
std::vector<std::string> cpu_targets();  // that this machine can run, the best first

// The target whose kernel ran last in this process, told by the kernel's own code; "" before the first.
std::string last_cpu_target();

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Every answer of the CUDA runtime is looked at: a failure becomes a lepus::Error that says what was being done.
// Out of memory: ErrorKind::memory, with what was asked for and what is free, so that a plan can be made smaller.
// No device, wrong driver, device too old: ErrorKind::unsupported. A device that was lost or a kernel that failed:
// ErrorKind::internal.
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>

namespace lepus::cuda {

// Throws where `status` is not cudaSuccess. `doing` completes "cannot ...": "copy rows to the device".
void check(cudaError_t status, const std::string& doing);

// The same for an allocation of `bytes`.
void check_allocation(cudaError_t status, std::int64_t bytes, const std::string& doing);

// After a kernel launch: what the launch itself said.
void check_launch(const std::string& kernel);

}  // namespace lepus::cuda

// SPDX-License-Identifier: Apache-2.0
// What an iterative method takes of the memory that its vectors lie in: for its run and for the plan before it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "device/device.h"
#include "device/files/device.h"
#include "iterative/method.h"
#include "operators/scan_map.h"

namespace lepus {

VectorNeeds vector_needs(const MethodKind& kind, const MethodOptions& options, std::int64_t views,
                         std::int64_t values_per_view, std::int64_t voxels);
// Throws Error(memory) where the host has less.
void require_host_memory(std::int64_t bytes, const Compute& compute);
// Where the host has less: which part of them stays in its memory while the rest goes to a file in `folder`. Nothing
// where it has as much.
std::optional<files::Setup> files_for_vectors(std::int64_t method_bytes, std::int64_t views,
                                              std::int64_t values_per_view, const Compute& compute,
                                              const std::filesystem::path& folder);
// "1.2 GiB of 3.2 GiB in files in /data: the limit is 2.5 GiB"
std::string describe(const files::Setup& files, const Compute& compute);
// Throws Error(memory) where the method cannot work on pieces that are so small.
void require_pieces(const MethodKind& kind, const VolumeShape& shape, const files::Setup& files,
                    const Compute& compute);
// What is left beside them for what could be computed again (Problem::spare_bytes).
std::int64_t spare_bytes(std::int64_t method_bytes, bool on_host, const Device& home, const Compute& compute);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// A scan reconstructed by an iterative method: the same frames, corrections and outputs as FDK, with the method's state
// kept beside the output while it is not finished.
#pragma once

#include <filesystem>

#include "core/context.h"
#include "io/volume_file.h"
#include "scan/scan.h"
#include <lepus/reconstruct.h>

namespace lepus {

// Where the state of an unfinished run lies.
std::filesystem::path state_file_of(const std::filesystem::path& output);

// As reconstruct_scan, by scan.method. Interrupted, it finishes the iteration, saves the state and throws
// Error(cancelled) that says how to go on.
ReconstructReport iterate_scan(const Scan& scan, const std::filesystem::path& volume_file,
                               const ReconstructOptions& options, Context& context);
ReconstructReport iterate_scan(const Scan& scan, VolumeWriter& writer, const std::filesystem::path& output,
                               const ReconstructOptions& options, Context& context);

}  // namespace lepus

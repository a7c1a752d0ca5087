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

// As reconstruct_scan, by scan.method. Over ranks (options.ranks) all of them call it, and rank 0 writes. A state
// beside the output that fits is gone on from. Interrupted, it finishes the iteration, saves the state and throws
// Error(cancelled) that says how to go on.
ReconstructReport iterate_scan(const Scan& scan, const std::filesystem::path& volume_file,
                               const ReconstructOptions& options, Context& context);
// The state stays, for more that is to be done with the volume: remove_states(output) (iterative/saved_states.h) when
// all is done. writer: null on other ranks than the first.
ReconstructReport iterate_scan(const Scan& scan, VolumeWriter* writer, const std::filesystem::path& output,
                               const ReconstructOptions& options, Context& context);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// All that a scan file asks for, in order: find the rotation axis, correct and reconstruct, post-process the volume.
#pragma once

#include <filesystem>

#include "core/context.h"
#include "scan/scan.h"
#include <lepus/reconstruct.h>

namespace lepus {

ReconstructReport run_scan(Scan scan, const std::filesystem::path& volume_file, const ReconstructOptions& options,
                           Context& context);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// A volume's line integrals as a scan would have measured them: what lepus/project.h declares, of a scan that was read.
#pragma once

#include <filesystem>

#include "core/context.h"
#include "scan/scan.h"
#include <lepus/project.h>

namespace lepus {

// Frames of an arc are interpolated (preprocess/arc_resample.h) between the pixels of the flat detector that the scan's
// matrices describe. Views that an unfinished run of the same volume and scan has made are not made again.
VolumeProjectionReport project_volume(const std::filesystem::path& volume, const Scan& scan,
                                      const std::filesystem::path& frames, const VolumeProjectionOptions& options,
                                      Context& context);

}  // namespace lepus

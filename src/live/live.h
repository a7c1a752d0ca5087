// SPDX-License-Identifier: Apache-2.0
// Reconstruction while the scanner still measures: what lepus/live.h declares, in the context of a caller.
#pragma once

#include <filesystem>

#include "core/context.h"
#include <lepus/live.h>

namespace lepus {

LiveReport reconstruct_live(const std::filesystem::path& scan_file, const std::filesystem::path& volume_file,
                            const LiveOptions& options, Context& context);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// What a scan file names beside its frames, copied for a scan in another folder.
#pragma once

#include <filesystem>

#include <toml++/toml.h>

#include "scan/scan.h"

namespace lepus {

// All of it, relative to `from`, lies in `to` afterwards, and `document`, the scan file, names it there.
void bring_named_files(toml::table& document, const Scan& scan, const std::filesystem::path& from,
                       const std::filesystem::path& to);

}  // namespace lepus

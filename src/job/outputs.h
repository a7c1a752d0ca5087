// SPDX-License-Identifier: Apache-2.0
// What a run will write, looked at before it starts: no two files of the same name, none of those it reads, and none
// among its frames.
#pragma once

#include <filesystem>
#include <string>

#include "scan/scan.h"

namespace lepus {

// The volume, the trace ("": none) and the `write` of every correction. Throws Error(usage): --force overwrites what
// was made, never what was measured.
void check_outputs(const Scan& scan, const std::filesystem::path& volume_file, const std::filesystem::path& trace);
// Any other output of a call that reads a scan, which `what` names: "the picture". "": none.
void check_output(const Scan& scan, const std::filesystem::path& file, const std::string& what);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Whether a call may go on with an unfinished run of its output, as it was asked to (docs/restart.md).
#pragma once

#include <filesystem>

namespace lepus {

void check_resume_or_restart(bool resume, bool restart);  // Error(usage) where both are asked for

// Error(usage) where there is no unfinished run of the output: its journal and what it was writing.
void require_unfinished_run(const std::filesystem::path& output);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace lepus {

// What a folder holds ("": the one lepus runs in), in the order of the names; nothing where it is not there or may not
// be read. Throws where the system fails otherwise: a part of the list would pass for all of it.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace lepus

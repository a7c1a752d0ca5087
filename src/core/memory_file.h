// SPDX-License-Identifier: Apache-2.0
// Files that lie in memory (tmpfs). The system lets one thread at a time write() to a file, so that several are no
// faster than one; pages that are mapped are filled by as many threads as there are.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lepus {

bool lies_in_memory(int descriptor);
bool lies_in_memory(const std::filesystem::path& folder);

// Copies through a mapping into a file that is long enough. False where that cannot be done, such as where no memory
// is left, with some or none of it copied: write() does it then, or says why not. No signal in either case.
bool copy_into_mapping(int descriptor, std::int64_t offset, const void* data, std::int64_t bytes);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// How much memory there is, how much this process took, and how people write that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <lepus/export.h>

namespace lepus {

LEPUS_API std::int64_t available_memory_bytes();  // what could be taken now without swapping, cgroup limits included
LEPUS_API std::int64_t resident_bytes();          // this process now
LEPUS_API std::int64_t peak_resident_bytes();     // this process at its highest
// A limit to name in a hint: some MiB above what was needed now, because the pages of a program that are in memory vary
// from run to run.
LEPUS_API std::int64_t enough_mebibytes(std::int64_t needed_bytes);
LEPUS_API std::int64_t parse_bytes(std::string_view);  // "4GiB", "800 MB", "1.5G" (binary), "4096"; throws Error(usage)
LEPUS_API std::string format_bytes(std::int64_t);      // "3.7 GiB"

}  // namespace lepus

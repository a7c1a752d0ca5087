// SPDX-License-Identifier: Apache-2.0
#include "analysis/work_memory.h"

#include <algorithm>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {

WorkMemory::Share WorkMemory::take(std::int64_t bytes, const std::string& what, const std::string& hint) {
  if (bytes > left_)
    throw Error(ErrorKind::memory,
                {.what = format("no memory for {}", what),
                 .where = "analysis",
                 .why = format("{} are needed, {} of what is allowed are left", format_bytes(bytes),
                               format_bytes(std::max<std::int64_t>(0, left_))),
                 .hint = hint.empty() ? "allow more with --memory" : "allow more with --memory, or " + hint});
  return {*this, bytes};
}

}  // namespace lepus::analysis

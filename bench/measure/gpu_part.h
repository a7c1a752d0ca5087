// SPDX-License-Identifier: Apache-2.0
// One of a list of parts for GPUs (cmake/lepus_gpu_parts.cmake), by the kind of GPU.
#pragma once

#include <string>
#include <vector>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::measure {

// Throws Error(unsupported) where this build has none for that kind.
template <class Part>
Part gpu_part(const std::vector<Part>& parts, const std::string& kind) {
  for (const Part& part : parts)
    if (part.kind == kind) return part;
  throw Error(ErrorKind::unsupported, {.what = "no GPU can be used",
                                       .where = "backend " + kind,
                                       .why = format("this build of lepus has no code for {}", kind),
                                       .hint = "use --backend cpu, or build lepus where the GPU's compiler is found"});
}

}  // namespace lepus::measure

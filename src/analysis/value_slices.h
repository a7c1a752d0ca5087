// SPDX-License-Identifier: Apache-2.0
// The values of a volume, slice by slice on all threads; none depends on another.
#pragma once

#include <functional>
#include <string>

#include "analysis/work_memory.h"
#include "core/context.h"
#include "io/volume_file.h"

namespace lepus::analysis {

// Calls body(z, values, worker) for every slice, in any order.
void each_value_slice(const VolumeReader& volume, const std::string& stage, WorkMemory& memory, Context& context,
                      const std::function<void(std::int64_t z, const float* values, int worker)>& body);

}  // namespace lepus::analysis

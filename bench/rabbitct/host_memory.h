// SPDX-License-Identifier: Apache-2.0
// Floats on the host, not initialised.
#pragma once

#include <cstdint>
#include <memory>

namespace lepus::rabbitct {

std::shared_ptr<float> aligned_floats(std::int64_t count);
// Memory that a GPU reads and writes without the host's help. Throws Error(unsupported) where there is none.
std::shared_ptr<float> page_locked(std::int64_t count, int device);

}  // namespace lepus::rabbitct

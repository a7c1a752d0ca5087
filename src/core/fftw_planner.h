// SPDX-License-Identifier: Apache-2.0
// FFTW's planner is the one part of it that is not thread-safe: whoever makes or destroys a plan, of either precision,
// holds this lock meanwhile. Executing a plan needs none.
#pragma once

#include <cstdint>
#include <mutex>

namespace lepus {

[[nodiscard]] std::unique_lock<std::mutex> lock_fftw_planner();

// The same, to plan transforms of lines of so many samples: where the system has no memory left for that FFTW ends the
// process, so this throws std::bad_alloc before.
[[nodiscard]] std::unique_lock<std::mutex> lock_fftw_planner_with_room(std::int64_t samples);

}  // namespace lepus

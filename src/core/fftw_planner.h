// SPDX-License-Identifier: Apache-2.0
// FFTW's planner is the one part of it that is not thread-safe: whoever makes or destroys a plan, of either precision,
// holds this lock meanwhile. Executing a plan needs none.
#pragma once

#include <mutex>

namespace lepus {

[[nodiscard]] std::unique_lock<std::mutex> lock_fftw_planner();

}  // namespace lepus

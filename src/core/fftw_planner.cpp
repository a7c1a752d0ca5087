// SPDX-License-Identifier: Apache-2.0
#include "core/fftw_planner.h"

namespace lepus {

std::unique_lock<std::mutex> lock_fftw_planner() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

}  // namespace lepus

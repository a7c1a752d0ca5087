// SPDX-License-Identifier: Apache-2.0
#include "core/fftw_planner.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace lepus {

std::unique_lock<std::mutex> lock_fftw_planner() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

std::unique_lock<std::mutex> lock_fftw_planner_with_room(std::int64_t samples) {
  // Of short lines FFTW's tables take 0.6 MB; the sines of a line, in double precision, two numbers a sample.
  const std::size_t room = (1 << 20) + 16 * static_cast<std::size_t>(samples);
  std::unique_lock lock = lock_fftw_planner();
  void* volatile taken = std::malloc(room);  // volatile: the compiler may not leave it out
  if (!taken) throw std::bad_alloc();
  std::free(taken);
  return lock;
}

}  // namespace lepus

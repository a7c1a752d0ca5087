// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace lepus::measure {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double measured_clock_hz() {
  // Every core we know adds two registers in one cycle, and an addition that needs the last one's sum cannot start
  // before it. Twenty in a row hide the loop around them. The best of several runs is the one nobody interrupted.
  constexpr std::int64_t rounds = 200000, additions = 20;
  double best = 0;
  for (int attempt = 0; attempt < 7; ++attempt) {
    std::uint64_t x = 1;
    [[maybe_unused]] const std::uint64_t y = 3;
    const double start = cpu_seconds();
    for (std::int64_t i = 0; i < rounds; ++i) {
#if defined(__x86_64__)
#define LEPUS_ADD4 "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
      asm volatile(LEPUS_ADD4 LEPUS_ADD4 LEPUS_ADD4 LEPUS_ADD4 LEPUS_ADD4 : "+r"(x) : "r"(y));
#elif defined(__aarch64__)
#define LEPUS_ADD4 "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
      asm volatile(LEPUS_ADD4 LEPUS_ADD4 LEPUS_ADD4 LEPUS_ADD4 LEPUS_ADD4 : "+r"(x) : "r"(y));
#else
      return 0;  // unknown
#endif
    }
    best = std::max(best, static_cast<double>(rounds * additions) / (cpu_seconds() - start));
  }
  return best;
}

}  // namespace lepus::measure

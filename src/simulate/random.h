// SPDX-License-Identifier: Apache-2.0
// Random numbers that depend on where they are used, never on when: a counter-based generator (Philox4x32-10, Salmon et
// al., SC 2011), so that a scan has the same noise for any number of threads. Uniform, normal and Poisson variates.
#pragma once

#include <array>
#include <cstdint>

namespace lepus {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// The numbers of one place: (seed, stream, index, item), for example (seed, frame noise, view, pixel).
class Random {
public:
  Random(std::uint64_t seed, std::uint32_t stream, std::uint32_t index, std::uint64_t item)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, static_cast<std::uint32_t>(item), index, 0},
        high_(stream ^ (static_cast<std::uint32_t>(item >> 32) << 8)) {
    counter_[3] = high_;
  }

  std::uint32_t bits();
  double uniform();                    // (0, 1), 53 bits
  double normal();                     // mean 0, variance 1 (Box-Muller)
  std::uint64_t poisson(double mean);  // inversion below 10, else Hoermann's transformed rejection (PTRS, 1993)

private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::uint32_t high_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace lepus

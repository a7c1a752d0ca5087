// SPDX-License-Identifier: Apache-2.0
// A sum of 128 bits: squares of values pass 64 bits at 65536 voxels, second moments in blobs of some 6000 voxels cubed.
#pragma once

#include <cmath>
#include <cstdint>

namespace lepus::analysis {

class WideSum {
public:
  void add(std::uint64_t n) {
    low_ += n;
    high_ += low_ < n ? 1 : 0;
  }
  void add(const WideSum& other) {
    add(other.low_);
    high_ += other.high_;
  }
  double value() const { return std::ldexp(static_cast<double>(high_), 64) + static_cast<double>(low_); }

private:
  std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace lepus::analysis

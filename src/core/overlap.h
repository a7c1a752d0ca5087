// SPDX-License-Identifier: Apache-2.0
// Whether two arrays of a caller share memory: what is read of one may then be what was written to the other.
#pragma once

#include <functional>
#include <span>

namespace lepus {

inline bool overlap(std::span<const float> a, std::span<const float> b) {
  const std::less<const float*> before;
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The words of the tables.
#pragma once

#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus::accuracy {

inline const char* name_of(Beam beam) { return beam == Beam::cone ? "cone" : beam == Beam::fan ? "fan" : "parallel"; }
inline const char* name_of(Window window) {
  constexpr const char* names[] = {"Ram-Lak", "Shepp-Logan", "cosine", "Hamming", "Hann"};
  return names[static_cast<int>(window)];
}
inline const char* name_of(Interpolation interpolation) {
  constexpr const char* names[] = {"nearest", "linear", "cubic"};
  return names[static_cast<int>(interpolation)];
}

}  // namespace lepus::accuracy

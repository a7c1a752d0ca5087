// SPDX-License-Identifier: Apache-2.0
// Pictures with rows and columns exchanged, so that filters along rows work along columns.
#pragma once

#include "project/planes.h"

namespace lepus::post {

// The shape of the transposed stack, packed, in other memory.
inline Planes turned_planes(const Planes& in, float* data) {
  return {data, in.height, in.width, in.height, in.count, in.width * in.height};
}

}  // namespace lepus::post

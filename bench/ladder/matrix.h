// SPDX-License-Identifier: Apache-2.0
// A 3x4 matrix in single precision, from voxel indices (x, y, z, 1) to (u w, v w, w) in pixels; host and device.
#pragma once

namespace lepus::ladder {

struct Matrix {
  float u[4], v[4], w[4];
};

}  // namespace lepus::ladder

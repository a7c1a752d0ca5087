// SPDX-License-Identifier: Apache-2.0
// Where a voxel meets the detector, and how much it weighs there.
// In: a 3x4 matrix (row-major, 12 numbers) and a point in the matrix' own units (voxel indices in the backends).
// Out: column u and row v in pixels (centres at integers) and w, the depth in units of the source-axis distance.
// Feldkamp, Davis and Kress 1984: the weight of the backprojection is 1/w^2 when w = 1 at the rotation centre.
#pragma once

#include "project/host_device.h"
#include <lepus/geometry.h>

namespace lepus {

template <class T>
struct DetectorPoint {
  T u, v, w;
};

template <class T>
LEPUS_HD inline T affine_row(const T* row, T x, T y, T z) {
  return row[0] * x + row[1] * y + row[2] * z + row[3];
}

// Cone and parallel beams divide both coordinates by w (parallel: w = 1 everywhere). A stack of fans divides u alone,
// because its rays stay in their plane: the second row of its matrix is v itself.
// The caller asks in_front_of_source before it believes u and v.
template <class T>
LEPUS_HD inline DetectorPoint<T> detector_point(const T* matrix, Beam beam, T x, T y, T z) {
  const T w = affine_row(matrix + 8, x, y, z);
  const T u = affine_row(matrix, x, y, z) / w;
  const T v = affine_row(matrix + 4, x, y, z);
  return {u, beam == Beam::fan ? v : v / w, w};
}

// Also false where w is not a number.
template <class T>
LEPUS_HD inline bool in_front_of_source(T w) {
  return w > T(0);
}

template <class T>
LEPUS_HD inline T distance_weight(Beam beam, T w) {
  return beam == Beam::parallel ? T(1) : T(1) / (w * w);
}

}  // namespace lepus

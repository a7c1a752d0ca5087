// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of a symmetric 3 x 3 matrix by Jacobi's rotations.
#pragma once

#include <array>

#include <lepus/math.h>

namespace lepus::analysis {

struct Eigen3 {
  std::array<double, 3> values;  // the largest first
  std::array<Vec3, 3> vectors;   // of length 1; the largest component of each is positive
};

Eigen3 eigen_of(const std::array<double, 6>& xx_yy_zz_xy_xz_yz);

}  // namespace lepus::analysis

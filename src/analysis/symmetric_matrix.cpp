// SPDX-License-Identifier: Apache-2.0
#include "analysis/symmetric_matrix.h"

#include <algorithm>
#include <cmath>

namespace lepus::analysis {

Eigen3 eigen_of(const std::array<double, 6>& m) {
  std::array<std::array<double, 3>, 3> a{{{m[0], m[3], m[4]}, {m[3], m[1], m[5]}, {m[4], m[5], m[2]}}};
  std::array<std::array<double, 3>, 3> v{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  // columns are the vectors
  // Each sweep squares what is left beside the diagonal: 10 are more than doubles can show.
  for (int sweep = 0; sweep < 10; ++sweep)
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t q = p + 1; q < 3; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < 3; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < 3; ++k) {
          const double pk = a[p][k], qk = a[q][k], vp = v[k][p], vq = v[k][q];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
          v[k][p] = c * vp - s * vq;
          v[k][q] = s * vp + c * vq;
        }
      }
  std::array<std::size_t, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
  Eigen3 result;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t k = order[i];
    Vec3 vector{v[0][k], v[1][k], v[2][k]};
    const double x = std::abs(vector.x), y = std::abs(vector.y), z = std::abs(vector.z);
    const double largest = x >= y && x >= z ? vector.x : y >= z ? vector.y : vector.z;
    result.values[i] = a[k][k];
    result.vectors[i] = largest < 0 ? vector * -1.0 : vector;
  }
  return result;
}

}  // namespace lepus::analysis

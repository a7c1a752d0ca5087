// SPDX-License-Identifier: Apache-2.0
#include "analysis/orientations.h"

#include <cmath>

#include "analysis/rigid_motion.h"

namespace lepus::analysis {
namespace {

Matrix3 turning_z_into(Vec3 direction) {
  const Vec3 axis = cross({0, 0, 1}, direction);
  if (norm(axis) == 0) return direction.z > 0 ? Matrix3{} : rotation_by({pi, 0, 0});
  return rotation_by(normalized(axis) * std::acos(direction.z));
}

}  // namespace

std::vector<Matrix3> orientations() {
  std::vector<Vec3> directions{{0, 0, 1}};
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const bool upright = x == 0 && y == 0 && z == 1, nowhere = x == 0 && y == 0 && z == 0;
        if (!upright && !nowhere)
          directions.push_back(
              normalized(Vec3{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}));
      }
  std::vector<Matrix3> all;
  for (const Vec3& direction : directions)
    for (std::size_t i = 0; i < upright_orientations; ++i)
      all.push_back(turning_z_into(direction) *
                    rotation_by({0, 0, 2 * pi * static_cast<double>(i) / upright_orientations}));
  return all;
}

}  // namespace lepus::analysis

// SPDX-License-Identifier: Apache-2.0
#include "device/host/orbit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/camera.h"

namespace lepus {
namespace {

// A coordinate may move by this much where we say that two are the same: in pixels at w = 1, and never above ten times
// as much, because no sensible voxel has w < 0.1. Below 1e-5 pixels it hides behind the rounding of single precision.
constexpr double same_pixels = 1e-6;

// How far u or v can move anywhere in the grid when the rows of a matrix change by `change`. A change of w moves u by
// as much as u is large, so the third row counts with the size of the detector.
double movement_pixels(const Matrix34& change, const VolumeGrid& grid, const ScanGeometry& geometry) {
  const double reach[4] = {static_cast<double>(grid.nx), static_cast<double>(grid.ny), static_cast<double>(grid.nz), 1};
  double row[3] = {0, 0, 0};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 4; ++c) row[r] += std::abs(change(r, c)) * reach[c];
  return std::max(row[0], row[1]) + static_cast<double>(std::max(geometry.columns, geometry.rows)) * row[2];
}

bool is_upright(const Matrix34& m, const VolumeGrid& grid, const ScanGeometry& geometry) {
  Matrix34 tilt;
  tilt(0, 2) = m(0, 2);
  tilt(2, 2) = m(2, 2);
  return movement_pixels(tilt, grid, geometry) <= same_pixels;
}

// The matrix that sees a voxel where m sees the turned one: m R.
Matrix34 after_turn(const Matrix34& m, const VolumeGrid& grid, int group) {
  Matrix34 t = m;
  const auto nx = static_cast<double>(grid.nx), ny = static_cast<double>(grid.ny);
  for (int r = 0; r < 3; ++r) {
    t(r, 0) = group == 4 ? m(r, 1) : -m(r, 0);
    t(r, 1) = group == 4 ? -m(r, 0) : -m(r, 1);
    t(r, 3) = m(r, 3) + m(r, 0) * (nx - 1) + (group == 4 ? 0.0 : m(r, 1) * (ny - 1));
  }
  return t;
}

bool same_view(const Matrix34& a, const Matrix34& b, const VolumeGrid& grid, const ScanGeometry& geometry) {
  Matrix34 change;
  for (std::size_t i = 0; i < 12; ++i) change.m[i] = a.m[i] - b.m[i];
  return movement_pixels(change, grid, geometry) <= same_pixels;
}

// Is matrices[i + step] the view matrices[i] turned once, for every view? step counts around the orbit.
bool turns_by(const std::vector<Matrix34>& matrices, std::size_t step, const VolumeGrid& grid,
              const ScanGeometry& geometry, int group) {
  const std::size_t n = matrices.size();
  for (std::size_t i = 0; i < n; ++i)
    if (!same_view(after_turn(matrices[(i + step) % n], grid, group), matrices[i], grid, geometry)) return false;
  return true;
}

}  // namespace

Orbit examine_orbit(const ScanGeometry& geometry, const VolumeGrid& grid) {
  std::vector<Matrix34> matrices;
  for (const auto& m : geometry.matrices) matrices.push_back(in_voxel_indices(m, grid));
  const std::size_t n = matrices.size();

  Orbit orbit;
  orbit.order.resize(n);
  std::iota(orbit.order.begin(), orbit.order.end(), std::int64_t{0});
  orbit.upright =
      std::all_of(matrices.begin(), matrices.end(), [&](const Matrix34& m) { return is_upright(m, grid, geometry); });
  std::size_t step = 0;  // from one member of a group to the next
  if (orbit.upright && n > 0 && n % 4 == 0 && grid.nx == grid.ny)
    for (const std::size_t s : {n / 4, 3 * n / 4})  // the orbit may turn either way
      if (step == 0 && turns_by(matrices, s, grid, geometry, 4)) {
        step = s;
        orbit.group = 4;
      }
  if (orbit.upright && step == 0 && n > 0 && n % 2 == 0 && turns_by(matrices, n / 2, grid, geometry, 2)) {
    step = n / 2;
    orbit.group = 2;
  }
  if (step != 0) {
    const auto group = static_cast<std::size_t>(orbit.group);
    for (std::size_t i = 0; i < n; ++i)
      orbit.order[i] = static_cast<std::int64_t>((i / group + (i % group) * step) % n);
  }
  for (const auto view : orbit.order) orbit.matrices.push_back(matrices[static_cast<std::size_t>(view)]);
  return orbit;
}

}  // namespace lepus

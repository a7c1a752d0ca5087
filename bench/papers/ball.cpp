// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/ball.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/camera.h"

namespace lepus::bench {
namespace {

// Of the ray from the source along d, |C| the ball's centre seen from the source: q = (C.d)^2 - d.d (C.C - r^2) is
// positive where it meets the ball, and the chord is 2 sqrt(q / d.d). d is affine along a row.
void fill_ball_row(const Camera& camera, const KnownBall& ball, std::int64_t row, std::int64_t columns,
                   std::uint16_t* counts) {
  const Vec3 centre = ball.centre_mm - camera.source_mm, step = camera.column_step_mm;
  const Vec3 start = camera.pixel_mm(0, static_cast<double>(row)) - camera.source_mm;
  const double cd = dot(centre, start), cd_step = dot(centre, step), dd = dot(start, start),
               dd_step = 2 * dot(start, step);
  const double dd_square = dot(step, step), outside = dot(centre, centre) - ball.radius_mm * ball.radius_mm;
  for (std::int64_t u = 0; u < columns; ++u) {
    const auto x = static_cast<double>(u);
    const double along = cd + x * cd_step, square = dd + x * (dd_step + x * dd_square);
    const double q = along * along - square * outside;
    counts[u] = static_cast<std::uint16_t>(
        q > 0 ? std::lround(known_open_beam * std::exp(-2 * ball.density * std::sqrt(q / square)))
              : std::lround(known_open_beam));
  }
}

}  // namespace

KnownBall ball_in(const VolumeGrid& grid) {
  const double half =
      0.5 * std::min(static_cast<double>(grid.nx) * grid.step_mm.x, static_cast<double>(grid.ny) * grid.step_mm.y);
  // The middle of the ball lets 1/e^2 of the beam through.
  return {{0.3 * half, -0.2 * half, 0}, 0.35 * half, 2 / (0.7 * half)};
}

void fill_many_ball_counts(const ScanGeometry& geometry, const KnownBall& ball, std::uint16_t* counts,
                           ThreadPool& threads) {
  threads.parallel_for(0, geometry.views(), 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t view = first; view < last; ++view) {
      const Camera camera = camera_of(geometry, view);
      for (std::int64_t row = 0; row < geometry.rows; ++row)
        fill_ball_row(camera, ball, row, geometry.columns, counts + (view * geometry.rows + row) * geometry.columns);
    }
  });
}

double ball_error(const float* volume, const VolumeGrid& grid, const KnownBall& ball) {
  const double blur = 2 * std::max(std::abs(grid.step_mm.x), std::abs(grid.step_mm.y));
  const double inner = std::min(0.8 * ball.radius_mm, ball.radius_mm - blur), outer = ball.radius_mm + blur;
  const std::int64_t z = grid.nz / 2;
  double inside = 0, inside_count = 0, around = 0, around_count = 0;
  for (std::int64_t y = 0; y < grid.ny; ++y)
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      const double r =
          norm(grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)) - ball.centre_mm);
      const auto voxel = static_cast<double>(volume[(z * grid.ny + y) * grid.nx + x]);
      if (r < inner) {
        inside += voxel;
        ++inside_count;
      } else if (r > outer && r < 1.3 * outer) {
        around += voxel;
        ++around_count;
      }
    }
  if (inside_count == 0 || around_count == 0) return std::numeric_limits<double>::quiet_NaN();
  const double off = std::abs(inside / inside_count / ball.density - 1);
  const double left = std::abs(around / around_count / ball.density);
  return off + left >= std::max(off, left) ? std::max(off, left) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace lepus::bench

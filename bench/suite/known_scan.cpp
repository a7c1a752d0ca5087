// SPDX-License-Identifier: Apache-2.0
#include "bench/suite/known_scan.h"

#include <cmath>
#include <cstring>

#include "core/format.h"

namespace lepus::bench {

double ball_line(const CircularScan& scan, const KnownBall& ball, double angle_rad, std::int64_t column,
                 std::int64_t row) {
  const double s = (static_cast<double>(column) - 0.5 * static_cast<double>(scan.columns - 1)) * scan.pixel_width_mm;
  const double t = -(static_cast<double>(row) - 0.5 * static_cast<double>(scan.rows - 1)) * scan.pixel_height_mm;
  const Vec3 forward{-std::sin(angle_rad), std::cos(angle_rad), 0}, right{std::cos(angle_rad), std::sin(angle_rad), 0};
  const Vec3 source = -scan.source_axis_mm * forward;
  const Vec3 ray = normalized(scan.source_detector_mm * forward + s * right + Vec3{0, 0, t});
  const double miss = norm(cross(source - ball.centre_mm, ray));
  const double half = ball.radius_mm * ball.radius_mm - miss * miss;
  return half > 0 ? 2 * ball.density * std::sqrt(half) : 0;
}

void fill_ball_counts(const CircularScan& scan, const KnownBall& ball, std::uint16_t* counts, ThreadPool& threads) {
  const auto views = static_cast<std::int64_t>(scan.angles_rad.size());
  threads.parallel_for(0, views * scan.rows, 16, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t u = 0; u < scan.columns; ++u) {
        const double line =
            ball_line(scan, ball, scan.angles_rad[static_cast<std::size_t>(i / scan.rows)], u, i % scan.rows);
        counts[i * scan.columns + u] = static_cast<std::uint16_t>(std::lround(known_open_beam * std::exp(-line)));
      }
  });
}

double density_found(const float* volume, const VolumeGrid& grid, const KnownBall& ball) {
  double sum = 0, count = 0;
  for (std::int64_t y = 0; y < grid.ny; ++y)
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      const Vec3 p = grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(grid.nz / 2));
      if (norm(p - ball.centre_mm) > 0.8 * ball.radius_mm) continue;
      sum += static_cast<double>(volume[(grid.nz / 2 * grid.ny + y) * grid.nx + x]);
      ++count;
    }
  return sum / count / ball.density;
}

Normalisation ball_normalisation(const CircularScan& scan) {
  return normalisation_from_value(known_open_beam, nullptr, scan.columns, scan.rows, PixelType::u16);
}

CountsInMemory::CountsInMemory(const CircularScan& scan, const std::uint16_t* counts)
    : columns_(scan.columns),
      rows_(scan.rows),
      views_(static_cast<std::int64_t>(scan.angles_rad.size())),
      counts_(counts) {}

std::string CountsInMemory::name(std::int64_t frame) const { return format("view {} in memory", frame); }

const void* CountsInMemory::in_memory(std::int64_t frame, std::int64_t row0) const {
  return counts_ + (frame * rows_ + row0) * columns_;
}

void CountsInMemory::read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const {
  std::memcpy(out, in_memory(frame, row0), static_cast<std::size_t>((row1 - row0) * columns_) * sizeof(std::uint16_t));
}

}  // namespace lepus::bench

// SPDX-License-Identifier: Apache-2.0
#include "align/circular.h"

#include <array>
#include <cmath>
#include <vector>

#include "geometry/camera.h"

namespace lepus {
namespace {

constexpr std::size_t probe_count = 7;

struct Seen {
  double column = 0, row = 0;
};

}  // namespace

OrbitDeviation deviation_from_circle(const ScanGeometry& geometry) {
  // The rotation centre and points on the three axes of the view's frame, at 0.7 of what the detector sees.
  const PixelPitch pitch = pitch_at_axis(camera_of(geometry, 0));
  const double across = 0.35 * static_cast<double>(geometry.columns) * pitch.width_mm;
  const double up = 0.35 * static_cast<double>(geometry.rows) * pitch.height_mm;
  const std::array<Vec3, probe_count> probes{
      {{0, 0, 0}, {across, 0, 0}, {-across, 0, 0}, {0, across, 0}, {0, -across, 0}, {0, 0, up}, {0, 0, -up}}};
  std::vector<std::array<Seen, probe_count>> seen;
  seen.reserve(static_cast<std::size_t>(geometry.views()));
  std::array<Seen, probe_count> mean{};
  const auto views = static_cast<double>(geometry.views());
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const double angle = view_angle_rad(camera_of(geometry, view)), c = std::cos(angle), s = std::sin(angle);
    std::array<Seen, probe_count> here;
    for (std::size_t i = 0; i < probe_count; ++i) {
      const Vec3& q = probes[i];
      const Vec3 h =
          transform(geometry.matrices[static_cast<std::size_t>(view)], {c * q.x - s * q.y, s * q.x + c * q.y, q.z});
      here[i] = {h.x / h.z, geometry.beam == Beam::fan ? h.y : h.y / h.z};
      mean[i].column += here[i].column / views;
      mean[i].row += here[i].row / views;
    }
    seen.push_back(here);
  }
  OrbitDeviation worst;
  for (std::size_t view = 0; view < seen.size(); ++view) {
    double squares = 0;
    for (std::size_t i = 0; i < probe_count; ++i) {
      const double column = seen[view][i].column - mean[i].column, row = seen[view][i].row - mean[i].row;
      squares += (column * column + row * row) / static_cast<double>(probe_count);
    }
    const double rms = std::sqrt(squares);
    if (rms > worst.rms_px || !std::isfinite(rms)) worst = {rms, static_cast<std::int64_t>(view)};
  }
  return worst;
}

}  // namespace lepus

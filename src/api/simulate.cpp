// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include <algorithm>
#include <cmath>

#include "api/refuse_option.h"
#include "core/call_context.h"
#include "core/format.h"
#include "device/check_compute.h"
#include "geometry/camera.h"
#include "geometry/row_band.h"
#include "io/number_file.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

}  // namespace

SimulationReport simulate_scan(const fs::path& folder, const SimulationOptions& options) {
  require_name(folder, "folder");
  check_compute(options.compute);
  CallContext working(options.call);
  const SimulationReport report = simulate_scan(options, folder, working.context());
  if (report.saturated_pixels > 0)
    working.context().progress.warning(format("{} pixels of all views are saturated", report.saturated_pixels));
  return report;
}

std::vector<double> equal_angles_rad(std::int64_t views, double first_deg, double arc_deg) {
  constexpr std::int64_t maximum_views = 10'000'000;
  if (views < 1) refuse_option("--views", "a scan needs at least one view", "give a number above 0");
  if (views > maximum_views)
    refuse_option("--views", format("{} views are not possible", views), format("give at most {}", maximum_views));
  check_angle_deg(first_deg, "option --first-angle");
  check_angle_deg(arc_deg, "option --arc");
  std::vector<double> angles;
  for (std::int64_t i = 0; i < views; ++i)
    angles.push_back(radians(first_deg + static_cast<double>(i) * arc_deg / static_cast<double>(views)));
  return angles;
}

std::vector<double> read_angles_rad(const fs::path& file) {
  std::vector<double> angles = read_number_file(file).values;
  for (double& angle : angles) {
    check_angle_deg(angle, file.string());
    angle = radians(angle);
  }
  return angles;
}

VolumeGrid grid_of_scan(const CircularScan& scan, std::optional<std::array<std::int64_t, 3>> size,
                        std::optional<double> voxel_mm) {
  const VolumeGrid automatic = automatic_grid(build_scan(scan));
  if (!size && !voxel_mm) return automatic;
  const Vec3 step = voxel_mm ? Vec3{*voxel_mm, *voxel_mm, *voxel_mm} : automatic.step_mm;
  if (!(step.x > 0)) refuse_option("--voxel", "a voxel must be larger than zero", "give its edge in millimetres");
  if (!size) {
    const auto count = [](std::int64_t n, double old_step, double new_step) {
      constexpr double too_many = 0x1p50;  // which check_grid refuses
      return std::max<std::int64_t>(
          1, std::llround(std::min(too_many, static_cast<double>(n) * std::abs(old_step) / new_step)));
    };
    size = {count(automatic.nx, automatic.step_mm.x, step.x), count(automatic.ny, automatic.step_mm.y, step.y),
            count(automatic.nz, automatic.step_mm.z, step.z)};
  }
  const auto [nx, ny, nz] = *size;
  if (std::min({nx, ny, nz}) < 1) refuse_option("--size", "a volume needs voxels", "give numbers above 0");
  VolumeGrid grid = centred_grid(nx, ny, nz, step);
  check_grid(grid);
  const double middle =
      automatic.origin_mm.z - centred_grid(automatic.nx, automatic.ny, automatic.nz, automatic.step_mm).origin_mm.z;
  if (std::abs(middle) > 1e-9 * std::abs(automatic.step_mm.z)) grid.origin_mm.z += middle;
  return grid;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// [volume] -> the grid to reconstruct: the whole volume (given, or the largest that the scan supports), then the slices
// and the region of interest of it.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "geometry/camera.h"
#include "geometry/row_band.h"
#include "scan/sections.h"

namespace lepus {
namespace {

struct WholeVolume {
  std::vector<std::int64_t> size;
  std::vector<double> voxel_mm, centre_mm;
  std::vector<bool> mirror;

  VolumeGrid grid() const {
    VolumeGrid grid{size[0], size[1], size[2], {}, {}};
    double* const step[] = {&grid.step_mm.x, &grid.step_mm.y, &grid.step_mm.z};
    double* const origin[] = {&grid.origin_mm.x, &grid.origin_mm.y, &grid.origin_mm.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      *step[axis] = mirror[axis] ? -voxel_mm[axis] : voxel_mm[axis];
      *origin[axis] = centre_mm[axis] - 0.5 * static_cast<double>(size[axis] - 1) * *step[axis];
    }
    return grid;
  }
};

std::optional<std::vector<std::int64_t>> given_size(const ScanDocument& document) {
  // "auto" is the only text that the key's type allows.
  if (!document.given("volume.size") || document.holds<std::string>("volume.size")) return std::nullopt;
  return document.get<std::vector<std::int64_t>>("volume.size");
}

WholeVolume automatic_volume(const ScanDocument& document, const ScanGeometry& geometry) {
  const VolumeGrid grid = located(document, "volume", [&] { return automatic_grid(geometry); });
  WholeVolume whole;
  whole.size = {grid.nx, grid.ny, grid.nz};
  whole.voxel_mm = {std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)};
  const Vec3 c = grid.centre(0.5 * static_cast<double>(grid.nx - 1), 0.5 * static_cast<double>(grid.ny - 1),
                             0.5 * static_cast<double>(grid.nz - 1));
  whole.centre_mm = {c.x, c.y, c.z};
  if (const auto voxel = document.find<std::vector<double>>("volume.voxel_mm"))
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double extent = static_cast<double>(whole.size[axis]) * whole.voxel_mm[axis];
      const double n = std::floor(extent / (*voxel)[axis] * (1 + 1e-12));  // a whole ratio stays whole after rounding
      if (n > 1e7)
        document.fail("volume.voxel_mm", "volume.voxel_mm makes too large a volume",
                      format("{:g} voxels over {:g} mm", n, extent), "give a larger voxel_mm, or a size");
      whole.size[axis] = std::max<std::int64_t>(1, static_cast<std::int64_t>(n));
      whole.voxel_mm[axis] = (*voxel)[axis];
    }
  return whole;
}

WholeVolume whole_volume(const ScanDocument& document, Scan& scan) {
  const auto size = given_size(document);
  scan.automatic_grid = !size;
  WholeVolume whole;
  if (size) {
    whole.size = *size;
    whole.centre_mm = {0, 0, 0};
    if (const auto voxel = document.find<std::vector<double>>("volume.voxel_mm"))
      whole.voxel_mm = *voxel;
    else {
      const PixelPitch pitch = located(document, "volume", [&] { return pitch_at_axis(camera_of(scan.geometry, 0)); });
      whole.voxel_mm = {pitch.width_mm, pitch.width_mm, pitch.height_mm};
    }
  } else {
    whole = automatic_volume(document, scan.geometry);
  }
  if (const auto centre = document.find<std::vector<double>>("volume.centre_mm")) whole.centre_mm = *centre;
  whole.mirror = document.get<std::vector<bool>>("volume.mirror");
  const double voxels =
      static_cast<double>(whole.size[0]) * static_cast<double>(whole.size[1]) * static_cast<double>(whole.size[2]);
  if (voxels > 1e15)  // 4 PB; beyond it byte offsets would leave 64 bits
    document.fail("volume.size", "the volume is too large",
                  format("{} x {} x {} voxels", whole.size[0], whole.size[1], whole.size[2]),
                  "check size and voxel_mm");
  return whole;
}

void select_part(const ScanDocument& document, VolumeGrid& grid, Resolution& resolution) {
  const auto first = document.get<std::int64_t>("volume.first_slice");
  const auto last = document.find<std::int64_t>("volume.last_slice").value_or(grid.nz - 1);
  const auto step = document.get<std::int64_t>("volume.slice_step");
  for (const auto& [key, value] : {std::pair{"volume.first_slice", first}, {"volume.last_slice", last}})
    if (value >= grid.nz)
      document.fail(key, format("{} = {} is past the end", key, value), format("the volume has {} slices", grid.nz),
                    format("they are counted from 0 to {}", grid.nz - 1));
  if (last < first)
    document.fail("volume.last_slice", "no slices are selected",
                  format("volume.first_slice = {}, volume.last_slice = {}", first, last),
                  "the last must not come before the first");
  resolution.derived["volume.last_slice"] = last;
  const auto region = document.find<std::vector<std::int64_t>>("volume.region_px")
                          .value_or(std::vector<std::int64_t>{0, grid.nx, 0, grid.ny});
  if (region[0] >= region[1] || region[2] >= region[3] || region[1] > grid.nx || region[3] > grid.ny)
    document.fail("volume.region_px", "the region of interest is empty or leaves the volume",
                  format("x [{}, {}), y [{}, {}); a slice has {} x {} voxels", region[0], region[1], region[2],
                         region[3], grid.nx, grid.ny),
                  "give [x0, x1, y0, y1], the ends not included");
  resolution.derived["volume.region_px"] = region;
  grid.origin_mm =
      grid.centre(static_cast<double>(region[0]), static_cast<double>(region[2]), static_cast<double>(first));
  grid.step_mm.z *= static_cast<double>(step);
  grid.nx = region[1] - region[0];
  grid.ny = region[3] - region[2];
  grid.nz = (last - first) / step + 1;
}

struct Extent {
  double least, most;  // outer faces
};
Extent extent(double origin, double step, std::int64_t n) {
  const double far = origin + static_cast<double>(n - 1) * step;
  return {std::min(origin, far) - 0.5 * std::abs(step), std::max(origin, far) + 0.5 * std::abs(step)};
}
double distance_from_zero(Extent e) { return e.least > 0 ? e.least : e.most < 0 ? -e.most : 0; }

// Nothing where the views have no part of the axis in common.
std::optional<Extent> height_in_every_view(const ScanGeometry& geometry) {
  try {
    const VolumeGrid seen = automatic_grid(geometry);
    return extent(seen.origin_mm.z, seen.step_mm.z, seen.nz);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A volume, and the cylinder around the axis that every view sees.
struct SeenPart {
  double radius;
  std::optional<Extent> height;
  Extent x, y, z;

  SeenPart(const ScanGeometry& geometry, const VolumeGrid& grid)
      : radius(field_of_view_radius_mm(geometry)),
        height(height_in_every_view(geometry)),
        x(extent(grid.origin_mm.x, grid.step_mm.x, grid.nx)),
        y(extent(grid.origin_mm.y, grid.step_mm.y, grid.ny)),
        z(extent(grid.origin_mm.z, grid.step_mm.z, grid.nz)) {}

  std::string sizes() const {
    return format("it spans x {:.4g}..{:.4g}, y {:.4g}..{:.4g}, z {:.4g}..{:.4g} mm; every view sees ", x.least, x.most,
                  y.least, y.most, z.least, z.most) +
           (height ? format("the cylinder of radius {:.4g} mm around the axis, z {:.4g}..{:.4g} mm", radius,
                            height->least, height->most)
                   : "no common part of the axis");
  }
};

void check_field_of_view(const ScanDocument& document, Scan& scan) {
  const VolumeGrid& grid = scan.grid;
  const SeenPart seen = located(document, "geometry", [&] { return SeenPart(scan.geometry, grid); });
  bool in_some_view = false;
  if (std::hypot(distance_from_zero(seen.x), distance_from_zero(seen.y)) <= seen.radius)
    for (std::int64_t view = 0; !in_some_view && view < scan.geometry.views(); ++view)
      in_some_view = row_band(scan.geometry, view, grid, seen.radius, 0, grid.nz, 0).size() > 0;
  if (!in_some_view || (seen.radius == 0 && scan.geometry.columns > 1))
    document.fail("volume", "the volume lies outside the field of view", seen.sizes(),
                  "check centre_mm, voxel_mm, the selected slices and region, and that the detector sees the axis; or "
                  "say size = \"auto\"",
                  ErrorKind::geometry);
  if (std::string warning = part_not_seen(scan.geometry, grid); !warning.empty())
    scan.warnings.push_back(std::move(warning));
}

}  // namespace

std::string part_not_seen(const ScanGeometry& geometry, const VolumeGrid& grid) {
  const SeenPart seen(geometry, grid);
  // Corners reach past the cylinder in every scan; faces should not, by more than the rounding to whole voxels.
  const double slack = std::abs(grid.step_mm.x), slack_z = std::abs(grid.step_mm.z);
  const bool wide = std::max({-seen.x.least, seen.x.most, -seen.y.least, seen.y.most}) > seen.radius + slack;
  const bool high =
      !seen.height || seen.z.least < seen.height->least - slack_z || seen.z.most > seen.height->most + slack_z;
  return wide || high ? "a part of the volume is not seen by every view: " + seen.sizes() : "";
}

std::optional<VolumeGrid> explicit_grid(const ScanDocument& document) {
  const auto size = given_size(document);
  const auto voxel = document.find<std::vector<double>>("volume.voxel_mm");
  if (!size || !voxel) return std::nullopt;
  return WholeVolume{*size, *voxel,
                     document.find<std::vector<double>>("volume.centre_mm").value_or(std::vector<double>{0, 0, 0}),
                     document.get<std::vector<bool>>("volume.mirror")}
      .grid();
}

void read_volume_section(const ScanDocument& document, Scan& scan, Resolution& resolution) {
  const WholeVolume whole = whole_volume(document, scan);
  resolution.derived["volume.size"] = whole.size;
  resolution.derived["volume.voxel_mm"] = whole.voxel_mm;
  resolution.derived["volume.centre_mm"] = whole.centre_mm;
  scan.grid = whole.grid();
  select_part(document, scan.grid, resolution);
  scan.field_of_view_mask = document.get<bool>("volume.mask");
  check_field_of_view(document, scan);
}

}  // namespace lepus

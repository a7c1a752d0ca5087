// SPDX-License-Identifier: Apache-2.0
// Volumes in other programs' axes: every voxel keeps its value and its place in the world.
#include "io/volume_axes.h"

#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

std::unique_ptr<VolumeReader> written(const fs::path& path) {
  const VolumeGrid grid = odd_grid();
  const auto writer = create_volume(path, grid, {.force = true, .unit = "1/mm", .provenance_room = 0});
  writer->write(0, grid.nz, pattern_volume(grid).data());
  writer->finish("{}");
  return open_volume(path);
}

std::vector<float> all_of(const VolumeReader& volume, std::int64_t slab) {
  const VolumeGrid& g = volume.grid();
  std::vector<float> voxels(static_cast<std::size_t>(g.voxels()));
  for (std::int64_t z = 0; z < g.nz; z += slab)
    volume.read(z, std::min(g.nz, z + slab), voxels.data() + z * g.nx * g.ny);
  return voxels;
}

// A point of lepus's world in the axes of another program: each of its coordinates is one of ours, or its negative.
double coordinate(Vec3 p, const VolumeAxes& axes, std::size_t k) {
  const std::array<double, 3> c{p.x, p.y, p.z};
  return axes.against[k] ? -c[axes.along[k]] : c[axes.along[k]];
}

TEST(VolumeAxes, every_order_keeps_values_and_places) {
  const TempFolder folder;
  const VolumeGrid ours = odd_grid();
  const char* orders[] = {"x,y,z", "x,z,-y", "y,x,z", "z,y,x", "-y,z,x", "-z,-x,-y", "x,-y,z", "zxy"};
  for (const char* text : orders) {
    SCOPED_TRACE(text);
    const VolumeAxes axes = parse_axes(text, "a test");
    const auto turned = into_axes(written(folder / "v.mha"), axes);
    const VolumeGrid& g = turned->grid();
    const std::vector<float> voxels = all_of(*turned, 2);
    // The voxel of theirs that lies at each voxel of ours, by coordinates alone.
    for (std::int64_t z = 0; z < ours.nz; ++z)
      for (std::int64_t y = 0; y < ours.ny; ++y)
        for (std::int64_t x = 0; x < ours.nx; ++x) {
          const Vec3 p = ours.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
          const auto i = std::llround((coordinate(p, axes, 0) - g.origin_mm.x) / g.step_mm.x);
          const auto j = std::llround((coordinate(p, axes, 1) - g.origin_mm.y) / g.step_mm.y);
          const auto k = std::llround((coordinate(p, axes, 2) - g.origin_mm.z) / g.step_mm.z);
          ASSERT_TRUE(i >= 0 && i < g.nx && j >= 0 && j < g.ny && k >= 0 && k < g.nz);
          ASSERT_EQ(voxels[static_cast<std::size_t>((k * g.ny + j) * g.nx + i)], float_pattern(x, y, z));
        }
    const auto back = from_axes(into_axes(written(folder / "v.mha"), axes), axes);
    EXPECT_EQ(back->grid().nx, ours.nx);
    EXPECT_NEAR(back->grid().origin_mm.y, ours.origin_mm.y, 1e-12);
    EXPECT_EQ(all_of(*back, 4), pattern_volume(ours));
  }
}

TEST(VolumeAxes, words) {
  EXPECT_EQ(words_of(parse_axes("rtk", "a test")), "x,z,-y");
  EXPECT_EQ(words_of(parse_axes("dicom", "a test")), "x,y,z");
  EXPECT_EQ(words_of(parse_axes("-z, x, y", "a test")), "-z,x,y");
  for (const char* bad : {"", "xy", "xyx", "xyzx", "x,y,w", "xyz-", "astra"})
    EXPECT_LEPUS_ERROR(parse_axes(bad, "--axes"), ErrorKind::usage, "no order of axes");
}

}  // namespace
}  // namespace lepus

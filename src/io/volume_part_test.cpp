// SPDX-License-Identifier: Apache-2.0
// Parts of a volume in every format, with every kind of step, against the same voxels of the whole.
#include "io/volume_part.h"

#include "core/format.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

std::vector<float> picked(const VolumeGrid& grid, const std::vector<float>& voxels, const VolumePart& part) {
  std::vector<float> out;
  for (std::int64_t z = part.first[2]; z < part.end[2]; z += part.step[2])
    for (std::int64_t y = part.first[1]; y < part.end[1]; y += part.step[1])
      for (std::int64_t x = part.first[0]; x < part.end[0]; x += part.step[0])
        out.push_back(voxels[static_cast<std::size_t>((z * grid.ny + y) * grid.nx + x)]);
  return out;
}

TEST(VolumePart, is_what_the_whole_volume_has_there) {
  const VolumeGrid grid{67, 70, 66, {1, 2, 3}, {0.5, 0.25, 1}};  // more than a chunk along every axis
  std::vector<float> voxels = pattern_volume(grid);
  for (float& voxel : voxels) voxel = 2 * voxel + 0.5F;  // whole numbers: DICOM rounds
  const std::vector<VolumePart> parts{
      {{0, 0, 0}, {67, 70, 66}, {1, 1, 1}},       // all
      {{0, 0, 0}, {67, 70, 66}, {4, 4, 4}},       // coarsely
      {{0, 35, 0}, {67, 36, 66}, {1, 1, 4}},      // across y
      {{64, 0, 0}, {65, 70, 66}, {1, 4, 4}},      // across x
      {{3, 5, 7}, {50, 69, 65}, {1, 1, 1}},       // a box
      {{3, 5, 7}, {66, 68, 66}, {5, 7, 64}},      // steps that skip a chunk's rest
      {{66, 69, 65}, {67, 70, 66}, {1, 1, 1}},    // one voxel
      {{1, 2, 3}, {60, 60, 60}, {100, 100, 100}}  // steps beyond the end
  };
  TempFolder folder;
  for (const VolumeFormat& kind : volume_formats()) {
    if (!kind.available) continue;
    SCOPED_TRACE(kind.ending);
    const std::string stem = kind.ending.substr(kind.ending[0] == '.' ? 1 : 0);  // some write a .raw beside them
    const fs::path file =
        folder / (kind.ending[0] == '%' ? "of" + kind.ending.substr(4) + "/" + kind.ending : stem + kind.ending);
    const auto writer = create_volume(file, grid, {.unit = "HU"});  // DICOM takes nothing else
    writer->write(0, grid.nz, voxels.data());
    writer->finish("{}");
    const auto reader = open_volume(file);
    for (const VolumePart& part : parts) {
      const std::vector<float> expected = picked(grid, voxels, part);
      ASSERT_EQ(part.voxels(), static_cast<std::int64_t>(expected.size()));
      std::vector<float> found(expected.size() + 1, -7.0F);
      read_part(*reader, part, found.data());
      EXPECT_EQ(found.back(), -7.0F) << "wrote too much";
      found.pop_back();
      EXPECT_EQ(found, expected) << format("from {} {} {}", part.first[0], part.first[1], part.first[2]);
    }
    std::vector<float> one(1);
    EXPECT_LEPUS_ERROR(read_part(*reader, {{67, 0, 0}, {68, 1, 1}, {1, 1, 1}}, one.data()), ErrorKind::internal,
                       "67, 68");
  }
}

TEST(VolumePart, plain_files_give_voxels_alone_and_packed_ones_bricks) {
  const VolumeGrid grid{100, 70, 66, {}, {1, 1, 1}};
  const std::vector<float> voxels = pattern_volume(grid);
  TempFolder folder;
  const auto brick = [&](const char* name) {
    const auto writer = create_volume(folder / name, grid);
    writer->write(0, grid.nz, voxels.data());
    writer->finish("{}");
    return brick_of(*open_volume(folder / name));
  };
  EXPECT_EQ(brick("v.mha"), (std::array<std::int64_t, 3>{1, 1, 1}));
  if (!have(".zarr")) return;
  EXPECT_EQ(brick("v.zarr"), (std::array<std::int64_t, 3>{64, 64, 64}));
}

}  // namespace
}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// DICOM: pydicom, GDCM's and DCMTK's tools read what lepus writes, and lepus reads what pydicom wrote.
// tests/judges/dicom_judge.py does their part.
#include "io/judge_test.h"

namespace lepus {
namespace {

using namespace test;

constexpr const char* dicom_script = "dicom_judge.py";

void write_dicom(const fs::path& path) {
  const VolumeGrid grid = odd_grid();
  const auto writer = create_volume(path, grid, {.force = false, .unit = "HU", .provenance_room = 0});
  writer->write(0, grid.nz, pattern_volume(grid).data());
  writer->finish(R"({"program":"lepus"})");
}

float rounded(float value) { return std::floor(value + 0.5F); }

TEST(Dicom, others_read_ours) {
  const TempFolder folder;
  write_dicom(folder / "volume.dcm");
  write_dicom(folder / "series/%04d.dcm");
  JUDGE_BY(dicom_script, "check", folder.path());
}

TEST(Dicom, lepus_reads_its_own) {
  const TempFolder folder;
  write_dicom(folder / "volume.dcm");
  write_dicom(folder / "series/%04d.dcm");
  const std::string names[] = {"volume.dcm", "series/%04d.dcm", "series/"};
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto volume = open_volume(folder / name);
    const VolumeGrid &g = volume->grid(), expected = odd_grid();
    EXPECT_EQ(g.nx, 7);
    EXPECT_EQ(g.ny, 5);
    ASSERT_EQ(g.nz, 6);
    EXPECT_EQ(g.origin_mm, expected.origin_mm);
    EXPECT_EQ(g.step_mm.x, expected.step_mm.x);
    EXPECT_EQ(g.step_mm.y, expected.step_mm.y);
    EXPECT_NEAR(g.step_mm.z, expected.step_mm.z, 1e-9);  // from positions of nine digits
    EXPECT_EQ(volume->unit(), "HU");
    EXPECT_EQ(volume->provenance(), R"({"program":"lepus"})");
    std::vector<float> voxels(210);
    volume->read(0, 6, voxels.data());
    for (std::int64_t i = 0; i < 210; ++i)
      ASSERT_EQ(voxels[static_cast<std::size_t>(i)], rounded(float_pattern(i % 7, i / 7 % 5, i / 35)));
  }
}

TEST(Dicom, lepus_reads_pydicom) {
  const TempFolder folder;
  JUDGE_BY(dicom_script, "make", folder.path());
  for (const char* name : {"projections.dcm", "implicit.dcm", "undefined.dcm"}) {
    SCOPED_TRACE(name);
    const auto source = open_frames({{folder / name}, "", {}, {}});
    EXPECT_EQ(source->frames(), 6);
    expect_pattern(*source);
  }
  // Slices whose names say nothing of their order, with a rescale.
  const auto volume = open_volume(folder / "series");
  EXPECT_EQ(volume->grid(), (VolumeGrid{7, 5, 6, {-1.5, 2.25, 10}, {0.5, 0.25, 2}}));
  EXPECT_EQ(volume->unit(), "HU");
  std::vector<float> voxels(210);
  volume->read(0, 6, voxels.data());
  for (std::int64_t i = 0; i < 210; ++i)
    ASSERT_EQ(voxels[static_cast<std::size_t>(i)], 2.0F * static_cast<float>(pattern(i % 7, i / 7 % 5, i / 35)) - 1024);
  EXPECT_LEPUS_ERROR(open_volume(folder / "gap"), ErrorKind::input, "equal steps");
  EXPECT_LEPUS_ERROR(open_volume(folder / "mixed"), ErrorKind::input, "several series");
  EXPECT_LEPUS_ERROR(open_volume(folder / "turned.dcm"), ErrorKind::unsupported, "turned");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "packed.dcm"}, "", {}, {}}), ErrorKind::unsupported, "gdcmconv --raw");
}

TEST(Dicom, a_range_is_its_rescale) {
  const TempFolder folder;
  const VolumeGrid grid = odd_grid();
  const std::vector<float> voxels = pattern_volume(grid);  // -20.25 to 42.25
  const ValueScale scale = scale_of_range(-20.25, 44.75);
  for (const char* name : {"v.dcm", "series/%04d.dcm"}) {
    SCOPED_TRACE(name);
    const auto writer = create_volume(folder / name, grid, {.unit = "1/mm", .type = PixelType::u16, .scale = scale});
    writer->write(0, grid.nz, voxels.data());
    writer->finish("");
    const auto reader = open_volume(folder / name);
    EXPECT_EQ(reader->pixel_type(), "uint16");
    EXPECT_EQ(reader->unit(), "1/mm");
    EXPECT_NEAR(reader->scale().slope, scale.slope, 1e-8 * scale.slope);  // nine digits
    std::vector<float> back(voxels.size());
    reader->read(0, grid.nz, back.data());
    for (std::size_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back[i], voxels[i], 0.51 * scale.slope) << i;
  }
}

TEST(Dicom, what_does_not_fit_is_refused) {
  const TempFolder folder;
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.dcm", odd_grid()), ErrorKind::unsupported, "--water");
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.dcm", odd_grid(), {.unit = ""}), ErrorKind::unsupported,
                     "nothing says that they are HU");
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.dcm", odd_grid(), {.unit = "HU", .type = PixelType::f16}),
                     ErrorKind::unsupported, "no 16-bit floats");
  for (const char* name : {"v.dcm", "%04d.dcm"})
    EXPECT_LEPUS_ERROR(create_unfinished(folder / name, odd_grid(), {.unit = "HU"}), ErrorKind::unsupported,
                       "cannot be gone on with");
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.dcm", {70000, 1, 1, {}, {1, 1, 1}}, {.unit = "HU"}),
                     ErrorKind::unsupported, "65535");
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.dcm", {2048, 2048, 1024, {}, {1, 1, 1}}, {.unit = "HU"}),
                     ErrorKind::unsupported, "series");
}

}  // namespace
}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Small valid files of every format, cut off at up to 1400 lengths and with bytes changed at random: reading gives
// pixels or an Error, never a crash, a hang or an allocation that the file cannot justify.
#include <algorithm>
#include <iostream>
#include <random>

#include "core/memory.h"
#include "io/scanner_samples.h"

namespace lepus {
namespace {

using namespace test;

void read_everything(const VolumeReader& reader) {
  const VolumeGrid& grid = reader.grid();
  if (grid.nx * grid.ny > 1 << 22) return;  // a slice that a caller would have to want
  std::vector<float> slice(static_cast<std::size_t>(grid.nx * grid.ny));
  for (std::int64_t z = 0; z < std::min<std::int64_t>(grid.nz, 50); ++z) reader.read(z, z + 1, slice.data());
}

void read_everything(const FrameSource& source) {
  if (source.rows() * source.columns() > 1 << 22) return;
  std::vector<float> frame(static_cast<std::size_t>(source.rows() * source.columns()));
  for (std::int64_t f = 0; f < std::min<std::int64_t>(source.frames(), 50); ++f)
    source.read(f, 0, source.rows(), frame.data());
}

struct Outcome {
  int read = 0, refused = 0;
};

// Each damage is one reading of the damaged file by `open`.
Outcome damage(const fs::path& path, const std::function<void()>& open, int flips) {
  const std::string whole = read_file(path);
  Outcome outcome;
  const auto attempt = [&](const std::string& bytes) {
    write_file(path, bytes);
    try {
      open();
      ++outcome.read;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::input || error.kind() == ErrorKind::unsupported ||
                  error.kind() == ErrorKind::memory)
          << error.what();
      ++outcome.refused;
    }
  };
  const std::size_t step = std::max<std::size_t>(1, whole.size() / 700);
  for (std::size_t length = 0; length < whole.size(); length += step) attempt(whole.substr(0, length));
  EXPECT_GT(outcome.refused, 0) << "a file without its end must not pass";
  std::mt19937 random(20240607);
  for (int k = 0; k < flips; ++k) {
    std::string bytes = whole;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int c = 0; c < changes; ++c) {
      const std::size_t at = random() % bytes.size();
      bytes[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 256);
    }
    attempt(bytes);
  }
  write_file(path, whole);
  open();
  if (flips > 0) {
    EXPECT_GT(outcome.read, 0) << "changed voxels are still voxels";
  }
  EXPECT_LT(peak_resident_bytes(), std::int64_t{1} << 30);
  return outcome;
}

void damage_volume(const char* name, const char* damaged, int flips) {
  if (!have(fs::path(name).extension().string())) GTEST_SKIP() << "this build has no " << name;
  const TempFolder folder;
  const VolumeGrid grid{5, 4, 3, {1, 2, 3}, {0.5, 0.5, 0.5}};
  const auto writer = create_volume(folder / name, grid, {.force = false, .unit = "1/mm", .provenance_room = 256});
  writer->write(0, 3, pattern_volume(grid).data());
  writer->finish(R"({"made": "for damage"})");
  damage(
      folder / damaged, [&] { read_everything(*open_volume(folder / name)); }, flips);
}

TEST(CorruptFiles, mha) { damage_volume("v.mha", "v.mha", 3000); }
TEST(CorruptFiles, mhd) { damage_volume("v.mhd", "v.mhd", 3000); }
TEST(CorruptFiles, nrrd) { damage_volume("v.nrrd", "v.nrrd", 3000); }
TEST(CorruptFiles, nhdr) { damage_volume("v.nhdr", "v.nhdr", 3000); }
TEST(CorruptFiles, npy) { damage_volume("v.npy", "v.npy", 3000); }
TEST(CorruptFiles, npz) { damage_volume("v.npz", "v.npz", 3000); }
TEST(CorruptFiles, raw_side_car) { damage_volume("v.raw", "v.raw.json", 3000); }
TEST(CorruptFiles, tiff) { damage_volume("v.tif", "v.tif", 3000); }
// Truncations only: with its metadata changed at random, libhdf5 1.10 itself writes past its buffers (docs/formats.md),
// in code that is not ours, and takes the program with it.
TEST(CorruptFiles, hdf5) { damage_volume("v.h5", "v.h5", 0); }

void damage_frames(const fs::path& path, int flips) {
  damage(
      path,
      [&] {
        read_everything(*open_frames({{path}, "", {}, {}}));
      },
      flips);
}

TEST(CorruptFiles, zeiss) {
  const TempFolder folder;
  write_zeiss(folder / "a.txrm", {});
  damage_frames(folder / "a.txrm", 3000);
}

TEST(CorruptFiles, files_of_imagers) {
  const TempFolder folder;
  write_xim(folder / "a.xim", 9, 7);
  damage_frames(folder / "a.xim", 2000);
  write_hnd(folder / "a.hnd", 9, 7);
  damage_frames(folder / "a.hnd", 2000);
  write_hnc(folder / "a.hnc", 9, 7);
  damage_frames(folder / "a.hnc", 500);
  write_his(folder / "a.his", 9, 7);
  damage_frames(folder / "a.his", 500);
  write_edf(folder / "a.edf", 9, 7, 2);
  damage_frames(folder / "a.edf", 2000);
}

TEST(CorruptFiles, raw_data) {
  const TempFolder folder;
  write_file(folder / "a.raw", std::string(120, 'x'));
  const FrameFiles files{{folder / "a.raw"}, "", RawLayout{5, 4, 3, PixelType::u16, 0, false}, {}};
  const Outcome outcome = damage(
      folder / "a.raw", [&] { read_everything(*open_frames(files)); }, 10);
  EXPECT_EQ(outcome.refused, 120);  // every truncation
  EXPECT_EQ(outcome.read, 10);      // every change of pixels
}

}  // namespace
}  // namespace lepus

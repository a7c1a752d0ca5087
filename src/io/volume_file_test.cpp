// SPDX-License-Identifier: Apache-2.0
// Every volume format: written in slabs of any cut and in any order, read again in any cut, with its grid, unit and
// provenance; what stays behind when writing is given up; sizes beyond 2^31 voxels.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/output_file.h"
#include "io/file.h"
#include "io/stack.h"
#include "io/test_support.h"
#include "io/volume_part.h"

namespace lepus {
namespace {

using namespace test;

struct Case {
  const char* name;     // of the target in the folder
  const char* ending;   // in volume_formats()
  const char* format;   // VolumeReader::format()
  std::size_t entries;  // files and folders when finished
};
const Case cases[] = {{"v.mha", ".mha", "MetaImage", 1},
                      {"v.mhd", ".mhd", "MetaImage", 2},
                      {"v.nrrd", ".nrrd", "NRRD", 1},
                      {"v.nhdr", ".nhdr", "NRRD", 2},
                      {"v.tif", ".tif", "TIFF", 1},
                      {"slices/", "%04d.tif", "TIFF folder", 8},
                      {"s/a_%03d.tiff", "%04d.tif", "TIFF folder", 8},
                      {"v.h5", ".h5", "HDF5", 1},
                      {"v.raw", ".raw", "raw", 2},
                      {"v.npy", ".npy", "NumPy array", 2},
                      {"v.npz", ".npz", "NumPy archive", 1},
                      {"v.zarr", ".zarr", "OME-Zarr", 8}};

const std::string provenance_text = R"({"program": "lepus", "path": "C:\\scan\n\"x\"", "list": [1, 2.5], "äö": "µ"})";
// The same on one line and in ASCII, as readers return it.
const std::string provenance_line =
    R"({"program":"lepus","path":"C:\\scan\n\"x\"","list":[1,2.5],"\u00e4\u00f6":"\u00b5"})";

void write_pattern(VolumeWriter& writer, const VolumeGrid& grid, const std::vector<std::int64_t>& cuts) {
  const std::vector<float> voxels = pattern_volume(grid);
  std::int64_t z = 0;
  for (const std::int64_t next : cuts) {
    writer.write(z, next, voxels.data() + z * grid.nx * grid.ny);
    z = next;
  }
}

class EveryFormat : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    if (!have(GetParam().ending)) GTEST_SKIP() << "this build has no " << GetParam().format;
  }
  fs::path target() const { return folder / GetParam().name; }
  TempFolder folder;
};

TEST_P(EveryFormat, round_trip_in_any_cut) {
  const VolumeGrid grid = odd_grid();
  const std::vector<float> voxels = pattern_volume(grid);
  for (const std::vector<std::int64_t>& cuts :
       std::vector<std::vector<std::int64_t>>{{6}, {1, 2, 3, 4, 5, 6}, {4, 4, 6}}) {
    const auto writer = create_volume(target(), grid, {.force = true, .unit = "HU", .provenance_room = 0});
    write_pattern(*writer, grid, cuts);
    writer->finish(provenance_text);
    EXPECT_EQ(folder.entries(), GetParam().entries);
    const auto reader = open_volume(target());
    EXPECT_EQ(reader->grid(), grid);
    EXPECT_EQ(reader->format(), GetParam().format);
    EXPECT_EQ(reader->pixel_type(), "float32");
    EXPECT_EQ(reader->unit(), "HU");
    EXPECT_EQ(reader->provenance(), provenance_line);
    const std::int64_t slice = grid.nx * grid.ny;
    for (std::int64_t z0 = 0; z0 < grid.nz; ++z0)
      for (std::int64_t z1 = z0; z1 <= grid.nz; ++z1) {
        std::vector<float> slab(static_cast<std::size_t>((z1 - z0) * slice));
        reader->read(z0, z1, slab.data());
        EXPECT_TRUE(std::equal(slab.begin(), slab.end(), voxels.begin() + z0 * slice)) << z0 << " " << z1;
      }
    EXPECT_LEPUS_ERROR(reader->read(0, 7, nullptr), ErrorKind::internal, "outside");
  }
}

TEST_P(EveryFormat, values_of_a_range_come_back_from_16_bits) {
  const VolumeGrid grid = odd_grid();
  std::vector<float> voxels = pattern_volume(grid);  // -20.25 to 42.25
  voxels[3] = 50;
  voxels[100] = -30;
  const ValueScale scale = scale_of_range(-20.25, 44.75);
  const auto writer = create_volume(target(), grid, {.force = true, .type = PixelType::u16, .scale = scale});
  writer->write(2, 6, voxels.data() + 2 * 35);
  writer->write(0, 2, voxels.data());
  EXPECT_EQ(writer->cut_off(), 2);
  writer->finish(provenance_text);
  const auto reader = open_volume(target());
  EXPECT_EQ(reader->pixel_type(), "uint16");
  EXPECT_EQ(reader->scale(), scale);
  EXPECT_EQ(reader->grid(), grid);
  EXPECT_EQ(reader->provenance(), provenance_line);
  std::vector<float> back(voxels.size()), part(12);
  reader->read(0, 6, back.data());
  for (std::size_t i = 0; i < back.size(); ++i)
    EXPECT_NEAR(back[i], std::clamp(voxels[i], -20.25f, 44.75f), 0.51 * scale.slope) << i;
  read_part(*reader, {{1, 2, 1}, {7, 4, 6}, {2, 1, 3}}, part.data());
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(part[i], back[(1 + 3 * (i / 6)) * 35 + (2 + i / 3 % 2) * 7 + 1 + 2 * (i % 3)]) << i;
  EXPECT_LEPUS_ERROR(scale_of_range(1, 1), ErrorKind::usage, "no range");
}

TEST_P(EveryFormat, has_16_bit_floats_or_says_that_it_has_none) {
  const VolumeGrid grid = odd_grid();
  std::vector<float> voxels = pattern_volume(grid);  // exact in 16 bits
  voxels[7] = 1e6f;
  voxels[8] = 1.0004883f;  // between 1 and the next half
  const VolumeWriterOptions options{.force = true, .type = PixelType::f16};
  const std::string ending = target().extension();
  if (ending == ".mha" || ending == ".mhd" || ending == ".nrrd" || ending == ".nhdr") {
    EXPECT_LEPUS_ERROR(create_volume(target(), grid, options), ErrorKind::unsupported, "no 16-bit floats");
    return;
  }
  const auto writer = create_volume(target(), grid, options);
  writer->write(0, 6, voxels.data());
  EXPECT_EQ(writer->cut_off(), 1);
  writer->finish(provenance_text);
  const auto reader = open_volume(target());
  EXPECT_EQ(reader->pixel_type(), "float16");
  std::vector<float> back(voxels.size());
  reader->read(0, 6, back.data());
  voxels[7] = 65504;
  voxels[8] = 1;
  EXPECT_EQ(back, voxels);
}

TEST_P(EveryFormat, integers_are_rounded_and_cut_off) {
  const VolumeGrid grid{3, 2, 6, {-1, -0.5, 2}, {1, 1, 0.5}};
  const std::vector<float> values{-70000.f, -0.5f, -0.51f,   0.49f,    0.5f, 254.5f,
                                  255.5f,   300.f, 32767.6f, 65534.5f, 7e4f, INFINITY};
  std::vector<float> voxels;
  for (int i = 0; i < 3; ++i) voxels.insert(voxels.end(), values.begin(), values.end());
  struct Type {
    PixelType type;
    const char* name;
    float least, most;
  };
  for (const Type& t : {Type{PixelType::u8, "uint8", 0, 255}, Type{PixelType::u16, "uint16", 0, 65535},
                        Type{PixelType::i16, "int16", -32768, 32767}}) {
    const auto writer =
        create_volume(target(), grid, {.force = true, .unit = "HU", .provenance_room = 0, .type = t.type});
    writer->write(0, 4, voxels.data());
    writer->write(4, 6, voxels.data() + 24);
    writer->finish(provenance_text);
    const auto reader = open_volume(target());
    EXPECT_EQ(reader->pixel_type(), t.name);
    EXPECT_EQ(reader->grid(), grid);
    EXPECT_EQ(reader->provenance(), provenance_line);
    std::vector<float> back(36);
    reader->read(0, 6, back.data());
    for (std::size_t i = 0; i < back.size(); ++i)
      EXPECT_EQ(back[i], std::clamp(std::floor(voxels[i] + 0.5f), t.least, t.most)) << t.name << " " << voxels[i];
  }
  const auto writer =
      create_volume(target(), grid, {.force = true, .unit = "", .provenance_room = 0, .type = PixelType::u8});
  voxels[9] = NAN;
  EXPECT_LEPUS_ERROR(writer->write(0, 6, voxels.data()), ErrorKind::input, "slice 1");
  EXPECT_LEPUS_ERROR(
      create_volume(target(), grid, {.force = true, .unit = "", .provenance_room = 0, .type = PixelType::f64}),
      ErrorKind::unsupported, "float64");
}

TEST_P(EveryFormat, long_provenance_is_kept) {
  const VolumeGrid grid{1, 1, 6, {}, {1, 1, 1}};
  for (const std::size_t length : {300u, 20000u, 300000u}) {
    const std::string text = "{\"text\":\"" + std::string(length, '=') + " \"}";
    // 4 KiB of room: the first fits, the others need a side-car where the header comes first.
    const auto writer = create_volume(target(), grid, {.force = true, .unit = "1/mm", .provenance_room = 4096});
    write_pattern(*writer, grid, {6});
    writer->finish(text);
    const auto reader = open_volume(target());
    EXPECT_EQ(reader->provenance(), text);
    std::vector<float> voxels(6);
    reader->read(0, 6, voxels.data());
    EXPECT_EQ(voxels, pattern_volume(grid));
  }
}

TEST_P(EveryFormat, nothing_stays_without_finish) {
  const VolumeGrid grid = odd_grid();
  {
    const auto writer = create_volume(target(), grid);
    write_pattern(*writer, grid, {3});
    EXPECT_GT(folder.entries(), 0u);
    EXPECT_LEPUS_ERROR(writer->finish("{}"), ErrorKind::internal, "3 of 6");
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST_P(EveryFormat, existing_files_need_force) {
  const VolumeGrid grid = odd_grid();
  {
    const auto writer = create_volume(target(), grid);
    write_pattern(*writer, grid, {6});
    writer->finish("");
  }
  EXPECT_EQ(open_volume(target())->provenance(), "");
  EXPECT_EQ(open_volume(target())->unit(), "1/mm");
  EXPECT_LEPUS_ERROR(create_volume(target(), grid), ErrorKind::disk, "exists already");
  {
    // Given up with force: the old volume is still whole.
    const auto writer = create_volume(target(), grid, {.force = true, .unit = "1/mm", .provenance_room = 0});
    const std::vector<float> zeros(35);
    writer->write(0, 1, zeros.data());
  }
  EXPECT_EQ(folder.entries(), GetParam().entries);
  std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()));
  open_volume(target())->read(0, 6, voxels.data());
  EXPECT_EQ(voxels, pattern_volume(grid));
}

TEST_P(EveryFormat, threads_in_any_order_write_what_one_writes_in_order) {
  const VolumeGrid grid{5, 3, 61, {-1, 0, 1}, {0.5, 0.5, 0.25}};
  const std::vector<float> voxels = pattern_volume(grid);
  for (const PixelType type : {PixelType::f32, PixelType::i16}) {
    const TempFolder in_order;
    const VolumeWriterOptions options{.force = true, .unit = "1/mm", .provenance_room = 0, .type = type};
    const auto one = create_volume(in_order / GetParam().name, grid, options);
    one->write(0, grid.nz, voxels.data());
    one->finish(provenance_text);
    for (unsigned seed = 0; seed < 3; ++seed) {
      const auto writer = create_volume(target(), grid, options);
      write_shuffled(*writer, grid, seed, 7);
      writer->finish(provenance_text);
      std::vector<float> a(voxels.size()), b(voxels.size());
      open_volume(in_order / GetParam().name)->read(0, grid.nz, a.data());
      open_volume(target())->read(0, grid.nz, b.data());
      EXPECT_EQ(a, b) << "seed " << seed;
      const bool keeps_the_time = GetParam().format == std::string("HDF5");
      EXPECT_TRUE(keeps_the_time || files_below(folder.path()) == files_below(in_order.path())) << "seed " << seed;
    }
  }
}

TEST_P(EveryFormat, slices_outside_twice_or_missing_are_refused) {
  const VolumeGrid grid = odd_grid();
  const auto writer = create_volume(target(), grid);
  const std::vector<float> voxels = pattern_volume(grid);
  const std::int64_t slice = grid.nx * grid.ny;
  writer->write(3, 4, voxels.data() + 3 * slice);
  EXPECT_LEPUS_ERROR(writer->write(2, 5, voxels.data()), ErrorKind::internal, "slice 3 of 6");
  EXPECT_LEPUS_ERROR(writer->write(-1, 1, voxels.data()), ErrorKind::internal, "outside");
  EXPECT_LEPUS_ERROR(writer->write(4, 7, voxels.data()), ErrorKind::internal, "outside");
  EXPECT_LEPUS_ERROR(writer->finish("{}"), ErrorKind::internal, "1 of 6 slices are there, 0-2, 4-5 missing");
  EXPECT_FALSE(fs::exists(target()) && fs::is_regular_file(target()));
  writer->write(4, 6, voxels.data() + 4 * slice);
  writer->write(0, 0, nullptr);
  writer->write(0, 3, voxels.data());
  writer->finish("{}");
  EXPECT_LEPUS_ERROR(writer->finish("{}"), ErrorKind::internal, "finished");
  EXPECT_LEPUS_ERROR(writer->write(0, 1, voxels.data()), ErrorKind::internal, "finished");
  std::vector<float> back(voxels.size());
  open_volume(target())->read(0, 6, back.data());
  EXPECT_EQ(back, voxels);
}

TEST_P(EveryFormat, a_disk_too_small_is_noticed_before_the_work) {
  const VolumeGrid grid{1 << 20, 1 << 20, 100, {}, {1, 1, 1}};  // 400 TiB
  EXPECT_LEPUS_ERROR(create_volume(target(), grid), ErrorKind::disk, "400.0 TiB needed");
  EXPECT_EQ(folder.entries(), 0u);
}

INSTANTIATE_TEST_SUITE_P(VolumeFile, EveryFormat, testing::ValuesIn(cases), [](const auto& tested) {
  std::string name = tested.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

TEST(VolumeFile, provenance_of_every_length_near_the_room) {
  const TempFolder folder;
  const VolumeGrid grid{2, 1, 6, {}, {1, 1, 1}};
  for (const char* name : {"v.mha", "v.nrrd"})
    for (std::size_t length = 0; length < 420; ++length) {
      const std::string text = "{\"t\":\"" + std::string(length, 'x') + "\"}";
      const auto writer = create_volume(folder / name, grid, {.force = true, .unit = "1/mm", .provenance_room = 256});
      write_pattern(*writer, grid, {6});
      writer->finish(text);
      const auto reader = open_volume(folder / name);
      ASSERT_EQ(reader->provenance(), text) << length;
      std::vector<float> voxels(12);
      reader->read(0, 6, voxels.data());
      ASSERT_EQ(voxels, pattern_volume(grid)) << length;
    }
}

TEST(VolumeFile, bad_targets) {
  const TempFolder folder;
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.xyz", odd_grid()), ErrorKind::unsupported, ".mha .mhd");
  EXPECT_LEPUS_ERROR(create_volume(folder / "none/v.mha", odd_grid()), ErrorKind::disk, "there is no folder");
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.mha", {0, 1, 1, {}, {1, 1, 1}}), ErrorKind::usage, "impossible volume");
  EXPECT_LEPUS_ERROR(create_volume(folder / "v.mha", {1, 1, 1, {}, {0, 1, 1}}), ErrorKind::usage, "impossible volume");
  fs::create_directory(folder / "d.mha");
  EXPECT_LEPUS_ERROR(create_volume(folder / "d.mha", odd_grid(), {.force = true, .unit = "", .provenance_room = 0}),
                     ErrorKind::disk, "it is a folder");
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.mha"), ErrorKind::input, "file not found");
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.xyz"), ErrorKind::unsupported, ".xyz");
}

TEST(VolumeFile, folder_with_more_slices_than_would_be_written) {
  for (const std::string ending : {".tif", ".dcm"}) {
    if (!have(ending)) continue;
    for (const std::string old : {"slice_0006", "slice_0017"}) {  // the next one, and one behind a gap
      const TempFolder folder;
      fs::create_directory(folder / "s");
      write_file(folder / ("s/" + old + ending), "old");
      EXPECT_LEPUS_ERROR(create_volume(folder / ("s/slice_%04d" + ending), odd_grid(), {.force = true, .unit = "HU"}),
                         ErrorKind::disk, "more images");
    }
  }
}

TEST(VolumeFile, an_output_is_no_file_of_the_input) {
  const TempFolder folder;
  const auto write = [&](const std::string& name) {
    const auto writer = create_volume(folder / name, odd_grid(), {.unit = "1/mm"});
    writer->write(0, odd_grid().nz, pattern_volume(odd_grid()).data());
    writer->finish("");
  };
  for (const char* name : {"a.mhd", "a.npy"}) write(name);
  std::string header = read_file(folder / "a.mhd");
  fs::rename(folder / "a.raw", folder / "voxels.raw");
  header.replace(header.find("a.raw"), 5, "voxels.raw");
  write_file(folder / "a.mhd", header);
  const auto refused = [&](const std::string& output, const std::string& input) {
    EXPECT_LEPUS_ERROR(refuse_to_replace_input(folder / output, folder / input), ErrorKind::usage, "replace the input");
  };
  refused("a.mhd", "a.mhd");
  refused("voxels.raw", "a.mhd");
  refused("voxels.nhdr", "a.mhd");
  refused("a.npy", "a.npy");
  refuse_to_replace_input(folder / "b.mhd", folder / "a.mhd");
  refuse_to_replace_input(folder / "a.mha", folder / "a.mhd");
  if (!have(".tif")) return;
  write("s/%04d.tif");
  refused("s/%04d.tif", "s");
  fs::remove(folder / "s/volume.json");  // as another program's
  refused("s/%04d.tif", "s");
  refuse_to_replace_input(folder / "t/%04d.tif", folder / "s");
}

// The reader, with a hole instead of data: 2^31 + 2^20 voxels of one byte, of which the disk holds a few.
TEST(VolumeFile, reads_beyond_two_to_the_31) {
  const TempFolder folder;
  const std::string header =
      "NDims = 3\nDimSize = 1024 1024 2049\nElementType = MET_UCHAR\nElementSpacing = 1 1 1\nElementDataFile = LOCAL\n";
  write_file(folder / "v.mha", header);
  const std::int64_t voxels = std::int64_t{1024} * 1024 * 2049;
  fs::resize_file(folder / "v.mha", header.size() + static_cast<std::uintmax_t>(voxels));
  const int file = ::open((folder / "v.mha").c_str(), O_WRONLY);
  const unsigned char mark[2] = {7, 9};
  ASSERT_EQ(::pwrite(file, mark, 2, static_cast<off_t>(header.size()) + voxels - 2), 2);
  ::close(file);
  const auto reader = open_volume(folder / "v.mha");
  std::vector<float> slice(1 << 20);
  reader->read(2048, 2049, slice.data());
  EXPECT_EQ(slice[(1 << 20) - 2], 7.0f);
  EXPECT_EQ(slice[(1 << 20) - 1], 9.0f);
  EXPECT_EQ(slice[0], 0.0f);
}

TEST(PartialFile, writes_beyond_four_gigabytes) {
  const TempFolder folder;
  PartialFile file(folder / "big.bin", false, 0);
  const std::int64_t far = (std::int64_t{1} << 33) + 5;
  file.write(far, "end", 3);
  EXPECT_EQ(file.end(), far + 3);
  file.commit();
  const InputFile again(folder / "big.bin");
  EXPECT_EQ(again.size(), far + 3);
  char text[3];
  again.read(far, text, 3);
  EXPECT_EQ(std::string(text, 3), "end");
}

}  // namespace
}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// MetaImage and NRRD headers as other programs write them: any order of keys, other types and byte orders, data in
// another file; and those that lepus refuses, with the reason.
#include <chrono>
#include <fstream>

#include "io/input_identity.h"
#include "io/pixels.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

const VolumeGrid small_grid{4, 3, 2, {1, 2, 3}, {0.5, 0.25, 2}};

template <class Pixel>
std::string data(bool big_endian) {
  std::string bytes;
  for (std::int64_t z = 0; z < 2; ++z) {
    auto slice = pattern_frame<Pixel>(4, 3, z);
    if (big_endian) swap_bytes(slice.data(), 12, sizeof(Pixel));
    bytes += bytes_of(slice);
  }
  return bytes;
}

void expect_volume(const fs::path& path, const VolumeGrid& expected, const char* type) {
  const auto reader = open_volume(path);
  EXPECT_EQ(reader->grid(), expected) << path;
  EXPECT_EQ(reader->pixel_type(), type);
  EXPECT_EQ(reader->provenance(), "");
  std::vector<float> voxels(24);
  reader->read(0, 2, voxels.data());
  for (std::int64_t i = 0; i < 24; ++i)
    ASSERT_EQ(voxels[static_cast<std::size_t>(i)], static_cast<float>(pattern(i % 4, i / 4 % 3, i / 12))) << path;
}

template <class Pixel>
void check_type(const char* meta, const char* nrrd, const char* name) {
  const TempFolder folder;
  for (const bool big : {false, true}) {
    // Keys in another order than ours, carriage returns, tabs, no blanks around the sign.
    write_file(folder / "a.mha",
               std::string("ObjectType = Image\r\nDimSize=4 3 2\r\nNDims = 3\r\nElementType\t=\t") + meta +
                   "\r\nOffset = 1 2 3\r\nBinaryData = True\r\nElementByteOrderMSB = " + (big ? "True" : "False") +
                   "\r\nModality = MET_MOD_CT\r\nElementSpacing = 5e-1 +0.25 2.0\r\n"
                   "AnatomicalOrientation = RAI\r\nElementDataFile = LOCAL\r\n" +
                   data<Pixel>(big));
    expect_volume(folder / "a.mha", small_grid, name);
    write_file(folder / "a.nrrd",
               std::string("NRRD0004\r\n# made by hand\r\nencoding: RAW\r\nspace: left-posterior-superior\r\n"
                           "kinds: domain domain domain\r\nsizes: 4 3 2\r\ndimension: 3\r\ntype: ") +
                   nrrd + "\r\nspace directions: (0.5,0,0) (0,0.25,0) (0, 0, 2)\r\nspace origin: (1,2,3)\r\nendian: " +
                   (big ? "big" : "little") + "\r\nmodality:=CT\r\n\r\n" + data<Pixel>(big));
    expect_volume(folder / "a.nrrd", small_grid, name);
  }
}

TEST(ForeignVolumes, every_type_both_byte_orders) {
  check_type<std::uint8_t>("MET_UCHAR", "uchar", "uint8");
  check_type<std::int8_t>("MET_CHAR", "signed char", "int8");
  check_type<std::uint16_t>("MET_USHORT", "unsigned short", "uint16");
  check_type<std::int16_t>("MET_SHORT", "short", "int16");
  check_type<std::uint32_t>("MET_UINT", "uint32_t", "uint32");
  check_type<std::int32_t>("MET_INT", "int", "int32");
  check_type<float>("MET_FLOAT", "float", "float32");
  check_type<double>("MET_DOUBLE", "double", "float64");
}

const std::string meta_start = "NDims = 3\nDimSize = 4 3 2\nElementSpacing = 0.5 0.25 2\nPosition = 1 2 3\n";
const std::string nrrd_start = "NRRD0001\ntype: uint8\ndimension: 3\nsizes: 4 3 2\nencoding: raw\n";

TEST(ForeignVolumes, data_in_another_file_after_a_header) {
  const TempFolder folder;
  const std::string voxels = data<std::uint8_t>(false);
  write_file(folder / "d.bin", "12345" + voxels);
  write_file(folder / "e.bin", "12345" + voxels + "trailing");
  const auto meta = [&](const std::string& rest) {
    write_file(folder / "a.mhd", meta_start + "ElementType = MET_UCHAR\n" + rest);
    return folder / "a.mhd";
  };
  expect_volume(meta("HeaderSize = 5\nElementDataFile = d.bin\n"), small_grid, "uint8");
  expect_volume(meta("HeaderSize = -1\nElementDataFile = d.bin\n"), small_grid, "uint8");
  expect_volume(meta("HeaderSize = 5\nElementDataFile = e.bin\n"), small_grid, "uint8");
  expect_volume(meta("HeaderSize = 5\nElementDataFile = " + (folder / "d.bin").string() + "\n"), small_grid, "uint8");
  EXPECT_LEPUS_ERROR(open_volume(meta("HeaderSize = 6\nElementDataFile = d.bin\n")), ErrorKind::input, "d.bin");
  EXPECT_LEPUS_ERROR(open_volume(meta("HeaderSize = -2\nElementDataFile = d.bin\n")), ErrorKind::input, "HeaderSize");
  EXPECT_LEPUS_ERROR(open_volume(meta("HeaderSize = 4611686018427387904\nElementDataFile = d.bin\n")), ErrorKind::input,
                     "HeaderSize");
  EXPECT_LEPUS_ERROR(open_volume(meta("ElementDataFile = none.bin\n")), ErrorKind::input, "none.bin: file not found");

  const auto nrrd = [&](const std::string& rest) {
    write_file(folder / "a.nhdr", nrrd_start + "spacings: 0.5 0.25 2\naxis mins: 1 2 3\n" + rest);
    return folder / "a.nhdr";
  };
  expect_volume(nrrd("byte skip: 5\ndata file: d.bin\n"), small_grid, "uint8");
  expect_volume(nrrd("byteskip: -1\ndatafile: d.bin"), small_grid, "uint8");
  EXPECT_LEPUS_ERROR(open_volume(nrrd("byte skip: 6\ndata file: d.bin\n")), ErrorKind::input, "d.bin");
}

TEST(ForeignVolumes, data_outside_the_folder_of_the_header_are_refused) {
  const TempFolder folder;
  fs::create_directories(folder / "in/deeper");
  const std::string voxels = data<std::uint8_t>(false);
  write_file(folder / "secret.bin", voxels);
  write_file(folder / "in/deeper/d.bin", voxels);
  const auto meta = [&](const std::string& name) {
    write_file(folder / "in/a.mhd", meta_start + "ElementType = MET_UCHAR\nElementDataFile = " + name + "\n");
    return folder / "in/a.mhd";
  };
  const auto nrrd = [&](const std::string& name) {
    write_file(folder / "in/a.nhdr", nrrd_start + "spacings: 0.5 0.25 2\naxis mins: 1 2 3\ndata file: " + name + "\n");
    return folder / "in/a.nhdr";
  };
  for (const std::string name : {"deeper/d.bin", "./deeper/../deeper/d.bin"}) {
    expect_volume(meta(name), small_grid, "uint8");
    expect_volume(nrrd(name), small_grid, "uint8");
  }
  for (const std::string& name :
       {std::string("../secret.bin"), std::string("deeper/../../secret.bin"), (folder / "secret.bin").string()}) {
    EXPECT_LEPUS_ERROR(open_volume(meta(name)), ErrorKind::input, "outside the folder");
    EXPECT_LEPUS_ERROR(open_volume(nrrd(name)), ErrorKind::input, name);
  }
}

TEST(ForeignVolumes, are_known_by_their_content) {
  const TempFolder folder;
  write_file(folder / "a.nrrd",
             meta_start + "ElementType = MET_UCHAR\nElementDataFile = LOCAL\n" + data<std::uint8_t>(false));
  expect_volume(folder / "a.nrrd", small_grid, "uint8");
  EXPECT_EQ(open_volume(folder / "a.nrrd")->format(), "MetaImage");
  write_file(folder / "volume", nrrd_start + "spacings: 0.5 0.25 2\naxis mins: 1 2 3\n\n" + data<std::uint8_t>(false));
  expect_volume(folder / "volume", small_grid, "uint8");
  write_file(folder / "picture.mha", "\x89PNG\r\n\x1a\n and so on");
  EXPECT_LEPUS_ERROR(open_volume(folder / "picture.mha"), ErrorKind::unsupported, "a PNG image");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "picture.mha"}, "", {}, {}}), ErrorKind::unsupported, "a PNG image");
  for (const char* stack : {"volume", "a.nrrd"}) {  // RTK's projections: a frame for each slice
    const auto frames = open_frames({{folder / stack}, "", {}, {}});
    EXPECT_EQ(frames->columns(), small_grid.nx);
    EXPECT_EQ(frames->rows(), small_grid.ny);
    EXPECT_EQ(frames->frames(), small_grid.nz);
    EXPECT_EQ(frames->pixel_type(), PixelType::u8);
  }
  EXPECT_LEPUS_ERROR(open_frames({{folder / "volume", folder / "a.nrrd"}, "", {}, {}}), ErrorKind::unsupported,
                     "several MetaImage or NRRD files");
}

TEST(ForeignVolumes, lengths_may_have_other_units) {
  const TempFolder folder;
  const auto meta = [&](const std::string& unit) {
    write_file(folder / "a.mha", meta_start + "DistanceUnits = " + unit +
                                     "\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n" +
                                     data<std::uint8_t>(false));
    return folder / "a.mha";
  };
  const auto nrrd = [&](const std::string& rest) {
    write_file(folder / "a.nrrd", nrrd_start + rest + "\n\n" + data<std::uint8_t>(false));
    return folder / "a.nrrd";
  };
  const std::string spacings = "spacings: 0.5 0.25 2\naxis mins: 1 2 3\n",
                    directions = "space directions: (0.5,0,0) (0,0.25,0) (0,0,2)\nspace origin: (1,2,3)\n";
  const auto grid_in = [](Vec3 mm) {
    return VolumeGrid{4, 3, 2, {mm.x, 2 * mm.y, 3 * mm.z}, {0.5 * mm.x, 0.25 * mm.y, 2 * mm.z}};
  };
  for (const auto& [unit, mm] : std::vector<std::pair<std::string, double>>{{"mm", 1},
                                                                            {"um", 1e-3},
                                                                            {"\xC2\xB5m", 1e-3},
                                                                            {"Microns", 1e-3},
                                                                            {"cm", 10},
                                                                            {"m", 1e3},
                                                                            {"nm", 1e-6},
                                                                            {"?", 1}}) {
    const auto check = [&, unit = unit, expected = grid_in({mm, mm, mm})](const fs::path& file) {
      const VolumeGrid read = open_volume(file)->grid();
      EXPECT_LT(norm(read.step_mm - expected.step_mm), 1e-12 * norm(expected.step_mm)) << file << " in " << unit;
      EXPECT_LT(norm(read.origin_mm - expected.origin_mm), 1e-12 * norm(expected.origin_mm)) << file << " in " << unit;
    };
    const std::string quoted = " \"" + unit + "\"", words = quoted + quoted + quoted;
    check(meta(unit));
    check(nrrd(spacings + "units:" + words));
    check(nrrd(directions + "space units:" + words));
    check(nrrd(directions + "units:" + words));
  }
  EXPECT_EQ(open_volume(nrrd(spacings + "units: \"mm\" \"cm\" \"\""))->grid(), grid_in({1, 10, 1}));
  const auto seconds = nrrd(spacings + "units: \"mm\" \"mm\" \"s\"");
  EXPECT_LEPUS_ERROR(open_volume(seconds), ErrorKind::unsupported, "the unit 's' of units");
  EXPECT_EQ(open_frames({{seconds}, "", {}, {}})->frames(), small_grid.nz);
  EXPECT_LEPUS_ERROR(open_volume(meta("parsec")), ErrorKind::unsupported, "the unit 'parsec' of DistanceUnits");
  EXPECT_LEPUS_ERROR(open_volume(nrrd(spacings + "units: \"mm\"")), ErrorKind::input, "another number of words");
  EXPECT_LEPUS_ERROR(open_volume(nrrd(spacings + "units: mm mm mm")), ErrorKind::input, "in quotes");
}

TEST(ForeignVolumes, limits_of_axes_are_those_of_middles_or_faces) {
  const TempFolder folder;
  const auto nrrd = [&](const std::string& rest) {
    write_file(folder / "a.nrrd", nrrd_start + rest + "\n\n" + data<std::uint8_t>(false));
    return folder / "a.nrrd";
  };
  const std::string limits = "axis mins: 1 2 3\naxis maxs: 4 8 9\n";
  EXPECT_EQ(open_volume(nrrd(limits + "centerings: node node node"))->grid(),
            (VolumeGrid{4, 3, 2, {1, 2, 3}, {1, 3, 6}}));
  EXPECT_EQ(open_volume(nrrd(limits + "centerings: cell cell cell"))->grid(),
            (VolumeGrid{4, 3, 2, {1.375, 3, 4.5}, {0.75, 2, 3}}));
  EXPECT_EQ(open_volume(nrrd("spacings: 1 2 3\naxis mins: 0 0 nan\ncenterings: cell node cell"))->grid(),
            (VolumeGrid{4, 3, 2, {0.5, 0, 0}, {1, 2, 3}}));
  EXPECT_LEPUS_ERROR(open_volume(nrrd(limits)), ErrorKind::unsupported, "without centerings");
  EXPECT_LEPUS_ERROR(open_volume(nrrd("axis mins: 1 2")), ErrorKind::input, "axis mins has another number");
  EXPECT_EQ(open_frames({{nrrd(limits)}, "", {}, {}})->frames(), small_grid.nz);
}

TEST(ForeignVolumes, mirrored_axes_and_two_dimensions) {
  const TempFolder folder;
  const VolumeGrid mirrored{4, 3, 2, {1, 2, 3}, {-0.5, 0.25, -2}};
  write_file(folder / "a.mha",
             meta_start + "TransformMatrix = -1 0 0 0 1 0 0 0 -1\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n" +
                 data<std::uint8_t>(false));
  expect_volume(folder / "a.mha", mirrored, "uint8");
  write_file(folder / "a.nrrd",
             nrrd_start +
                 "space dimension: 3\nspace directions: (-0.5,0,0) (0,0.25,0) (0,0,-2)\nspace origin: (1,2,3)\n\n" +
                 data<std::uint8_t>(false));
  expect_volume(folder / "a.nrrd", mirrored, "uint8");
  write_file(folder / "b.mha",
             "NDims = 2\nDimSize = 4 6\nElementSize = 2 3\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n" +
                 data<std::uint8_t>(false));
  EXPECT_EQ(open_volume(folder / "b.mha")->grid(), (VolumeGrid{4, 6, 1, {}, {2, 3, 1}}));
}

TEST(ForeignVolumes, what_is_refused_says_why) {
  const TempFolder folder;
  const auto meta = [&](const std::string& header) {
    write_file(folder / "a.mha", header + "ElementDataFile = LOCAL\n" + std::string(400, 'x'));
    return error_of([&] { open_volume(folder / "a.mha"); });
  };
  const auto nrrd = [&](const std::string& header) {
    write_file(folder / "a.nrrd", header + "\n" + std::string(400, 'x'));
    return error_of([&] { open_volume(folder / "a.nrrd"); });
  };
  const auto expect = [](const std::optional<Error>& error, ErrorKind kind, const std::string& part) {
    ASSERT_TRUE(error.has_value()) << part;
    EXPECT_EQ(error->kind(), kind) << error->what();
    EXPECT_NE(std::string(error->what()).find(part), std::string::npos) << error->what();
  };
  const std::string byte = "ElementType = MET_UCHAR\n";
  expect(meta(meta_start + byte + "CompressedData = True\n"), ErrorKind::unsupported, "CompressedData");
  expect(meta(meta_start + byte + "BinaryData = False\n"), ErrorKind::unsupported, "BinaryData");
  expect(meta(meta_start + byte + "ElementNumberOfChannels = 3\n"), ErrorKind::unsupported, "several values");
  expect(meta(meta_start + byte + "ElementNumberOfChannels = 5\n"), ErrorKind::unsupported, "several values");
  expect(meta(meta_start + byte + "HeaderSize = -5\n"), ErrorKind::input, "HeaderSize");
  expect(meta("NDims = 4\n" + byte + "DimSize = 4 3 2\n"), ErrorKind::input, "NDims is 4, DimSize has 3");
  expect(meta(meta_start + byte + "TransformMatrix = 0 1 0 1 0 0 0 0 1\n"), ErrorKind::unsupported, "turned");
  expect(meta(meta_start + "ElementType = MET_STRING\n"), ErrorKind::unsupported, "MET_STRING");
  expect(meta(meta_start), ErrorKind::input, "ElementType is missing");
  expect(meta(byte + "DimSize = 4 3 200\n"), ErrorKind::input, "truncated");
  expect(meta(byte + "DimSize = 4 3 -2\n"), ErrorKind::input, "voxels");
  expect(meta(byte + "DimSize = 4 3 x\n"), ErrorKind::input, "'x' of DimSize");
  expect(meta(byte + "DimSize = 4611686018427387904 4 3\n"), ErrorKind::input, "voxels");
  expect(meta(byte + "DimSize = 99999999999999999999 4 3\n"), ErrorKind::input, "not a number");
  expect(meta(byte + "DimSize = 4 3 2 5\n"), ErrorKind::unsupported, "4 numbers");
  expect(meta(byte + "DimSize = 4 3 2\nElementSpacing = 1 0 1\n"), ErrorKind::input, "voxel size of 0");
  expect(meta(byte + "DimSize = 4 3 2\nElementSpacing = 1 nan 1\n"), ErrorKind::input, "voxel size");
  expect(meta(byte + "DimSize = 4 3 2\nElementSpacing = 1 1\n"), ErrorKind::input, "another number of values");
  expect(meta("some text\n"), ErrorKind::input, "key = value");
  expect(nrrd("NRRD0001\ntype: uint8\nsizes: 4 3 2\nencoding: gzip\n"), ErrorKind::unsupported, "gzip");
  expect(nrrd("NRRD0001\ntype: block\nsizes: 4 3 2\nencoding: raw\n"), ErrorKind::unsupported, "block");
  expect(nrrd("NRRD0001\ntype: short\nsizes: 4 3 2\nencoding: raw\n"), ErrorKind::input, "endian");
  expect(nrrd("NRRD0001\ntype: uint8\nsizes: 3 4 3 2\nencoding: raw\n"), ErrorKind::unsupported, "4 axes");
  expect(nrrd(nrrd_start + "space directions: (0,1,0) (1,0,0) (0,0,1)\n"), ErrorKind::unsupported, "turned");
  expect(nrrd(nrrd_start + "space directions: (0,1,0) (1,0,0)\n"), ErrorKind::input, "number of vectors");
  expect(nrrd(nrrd_start + "space directions: 1 0 0\n"), ErrorKind::input, "not a list of vectors");
  expect(nrrd("NRRD0001\ntype: uint8\nsizes: 4 3 200\nencoding: raw\n"), ErrorKind::input, "truncated");
  expect(nrrd("NRRD0001\ntype: uint8\ndimension: 100\nsizes: 4 3 2\nencoding: raw\n"), ErrorKind::input,
         "dimension is '100', sizes has 3 numbers");
  expect(nrrd("NOTNRRD\n"), ErrorKind::input, "NRRD000");
}

TEST(ForeignVolumes, raw_side_cars_are_checked) {
  const TempFolder folder;
  write_file(folder / "a.raw", std::string(48, 'x'));
  const auto with = [&](const std::string& json) {
    write_file(folder / "a.raw.json", json);
    return folder / "a.raw";
  };
  EXPECT_EQ(open_volume(with(R"({"size": [4, 3, 2], "type": "uint16"})"))->grid(),
            (VolumeGrid{4, 3, 2, {}, {1, 1, 1}}));
  EXPECT_LEPUS_ERROR(open_volume(with("{")), ErrorKind::input, "not a JSON object");
  EXPECT_LEPUS_ERROR(open_volume(with("[]")), ErrorKind::input, "not a JSON object");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3], "type": "uint16"})")), ErrorKind::input, "size");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3, 2.5], "type": "uint16"})")), ErrorKind::input, "integers");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3, 2], "type": "complex"})")), ErrorKind::input, "complex");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3, -2], "type": "uint16"})")), ErrorKind::input, "positive");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3, 3], "type": "uint16"})")), ErrorKind::input, "truncated");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3, 2], "type": "uint16", "step_mm": [1, 0, 1]})")),
                     ErrorKind::input, "zero");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3, 2], "type": "uint16", "step_mm": "1"})")), ErrorKind::input,
                     "three numbers");
  EXPECT_LEPUS_ERROR(open_volume(with(R"({"size": [4, 3, 2], "type": "uint16", "header_bytes": -1})")),
                     ErrorKind::input, "header_bytes");
}

TEST(ForeignVolumes, the_data_that_a_header_names_are_a_part_of_the_input) {
  const TempFolder folder;
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
  write("x.mhd", "NDims = 3\nDimSize = 1 1 1\nElementType = MET_FLOAT\nElementDataFile = other.raw\n");
  write("x.nhdr",
        "NRRD0004\ntype: float\ndimension: 3\nsizes: 1 1 1\nencoding: raw\nendian: little\n"
        "data file: other.raw\n\n");
  write("x.raw", "none of theirs");
  write("other.raw", "1234");
  for (const char* name : {"x.mhd", "x.nhdr"}) {
    SCOPED_TRACE(name);
    const std::vector<fs::path> both{folder / name, folder / "other.raw"};
    EXPECT_EQ(files_of_input(folder / name), both);
    FrameFiles frames;
    frames.files = {folder / name};
    EXPECT_EQ(files_of_input(frames), both);
    const JournalFact before = volume_fact(folder / name);
    const auto time = fs::last_write_time(folder / "other.raw");
    fs::last_write_time(folder / "other.raw", time + std::chrono::milliseconds(1));
    EXPECT_NE(volume_fact(folder / name), before);
    fs::last_write_time(folder / "other.raw", time);
    EXPECT_EQ(volume_fact(folder / name), before);
  }
}

}  // namespace
}  // namespace lepus

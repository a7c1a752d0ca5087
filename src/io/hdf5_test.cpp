// SPDX-License-Identifier: Apache-2.0
// HDF5 files as others arrange them: links of every kind, virtual datasets, somebody else's block in front
// (MATLAB 7.3), filters that are not there.
#ifdef LEPUS_HAVE_HDF5

#include <fstream>

#include <sys/stat.h>

#include "io/hdf5_file.h"
#include "io/input_identity.h"
#include "io/number_file.h"
#include "io/stored_values.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

constexpr hsize_t file_shape[3] = {3, 4, 5};

Hdf5Id create(const fs::path& path, hsize_t user_block = 0) {
  const Hdf5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation, user_block);
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT), H5Fclose};
}

// Three images of 5 x 4 pixels with the pattern of the tests.
void write_images(hid_t file, const char* name, hid_t creation = H5P_DEFAULT) {
  std::vector<std::uint16_t> pixels;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto image = pattern_frame<std::uint16_t>(5, 4, i);
    pixels.insert(pixels.end(), image.begin(), image.end());
  }
  const Hdf5Id space(H5Screate_simple(3, file_shape, nullptr), H5Sclose);
  const Hdf5Id data(H5Dcreate2(file, name, H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
  ASSERT_GE(H5Dwrite(data, H5T_STD_U16LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels.data()), 0);
}

Hdf5Id open_to_write(const fs::path& path) { return {H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose}; }

using Names = std::vector<std::string>;
Names names_of(const std::vector<fs::path>& files) {
  Names names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return names;
}

FrameFiles frames_in(const fs::path& file, const char* dataset) { return {{file}, dataset, {}, FrameOrder::frames}; }

TEST(Hdf5Files, a_block_in_front_and_another_ending_do_not_matter) {
  const TempFolder folder;
  const Hdf5Lock lock;
  write_images(create(folder / "scan.mat", 512), "/p");
  const auto source = open_frames(frames_in(folder / "scan.mat", "/p"));
  EXPECT_EQ(source->frames(), 3);
  expect_pattern(*source);
  EXPECT_EQ(open_volume(folder / "scan.mat")->grid().nx, 5);
  EXPECT_EQ(open_volume((folder / "scan.mat").string() + ":/p")->grid().nz, 3);
}

TEST(Hdf5Files, links_of_every_kind_are_followed) {
  const TempFolder folder;
  const Hdf5Lock lock;
  write_images(create(folder / "data.h5"), "/images");
  {
    const Hdf5Id file = create(folder / "links.h5");
    const Hdf5Id group(H5Gcreate2(file, "/entry", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    H5Lcreate_external("data.h5", "/images", file, "/entry/outside", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("gone.h5", "/images", file, "/entry/nowhere", H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_EQ(::mkfifo((folder / "pipe.h5").c_str(), 0600), 0);
    H5Lcreate_external("pipe.h5", "/images", file, "/entry/pipe", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/entry/outside", file, "/entry/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/", file, "/entry/round", H5P_DEFAULT, H5P_DEFAULT);  // a circle
  }
  // The pixels lie in the other file: read from this one at the same place, they would be anything.
  for (const char* dataset : {"/entry/outside", "/entry/soft"}) {
    const auto source = open_frames(frames_in(folder / "links.h5", dataset));
    EXPECT_EQ(source->frames(), 3);
    expect_pattern(*source);
  }
  EXPECT_EQ(list_hdf5_images(open_hdf5(folder / "links.h5")),
            (std::vector<std::string>{"/entry/outside", "/entry/soft"}));
  for (const char* dataset : {"/entry/nowhere", "/entry/pipe"})
    EXPECT_LEPUS_ERROR(open_frames(frames_in(folder / "links.h5", dataset)), ErrorKind::input, "/entry/outside");
}

TEST(Hdf5Files, all_files_behind_a_dataset_are_known) {
  const TempFolder folder;
  const Hdf5Lock lock;
  write_images(create(folder / "data.h5"), "/images");
  {
    const Hdf5Id between = create(folder / "between.h5");
    H5Lcreate_external("data.h5", "/images", between, "/images", H5P_DEFAULT, H5P_DEFAULT);
    const Hdf5Id space(H5Screate_simple(3, file_shape, nullptr), H5Sclose);
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(creation, (folder / "pixels.bin").c_str(), 0, 3 * 4 * 5 * 2);
    const Hdf5Id elsewhere(H5Dcreate2(between, "/elsewhere", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                           H5Dclose);
    std::ofstream(folder / "pixels.bin") << std::string(120, '\0');
    const Hdf5Id master = create(folder / "master.h5");
    H5Lcreate_external("between.h5", "/images", master, "/linked", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("between.h5", "/elsewhere", master, "/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  }
  write_images(open_to_write(folder / "master.h5"), "/own");
  const auto files = [&](const char* dataset) {
    return names_of(files_of_input(frames_in(folder / "master.h5", dataset)));
  };
  EXPECT_EQ(files("/own"), Names{"master.h5"});
  EXPECT_EQ(files("linked"), (Names{"master.h5", "between.h5", "data.h5"}));
  EXPECT_EQ(files("/elsewhere"), (Names{"master.h5", "between.h5", "pixels.bin"}));
}

TEST(Hdf5Files, virtual_datasets_need_their_parts) {
  const TempFolder folder;
  const Hdf5Lock lock;
  write_images(create(folder / "part.h5"), "/images");
  {
    const Hdf5Id file = create(folder / "virtual.h5");
    const Hdf5Id space(H5Screate_simple(3, file_shape, nullptr), H5Sclose);
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_virtual(creation, space, "part.h5", "/images", space);
    const Hdf5Id data(H5Dcreate2(file, "/all", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(data.valid());
  }
  EXPECT_EQ(list_hdf5_images(open_hdf5(folder / "virtual.h5")), std::vector<std::string>{"/all"});
  EXPECT_EQ(names_of(files_of_input(frames_in(folder / "virtual.h5", "/all"))), (Names{"virtual.h5", "part.h5"}));
  EXPECT_EQ(names_of(files_of_input(folder / "virtual.h5")), (Names{"virtual.h5", "part.h5"}));
  {
    const auto frames = open_frames(frames_in(folder / "virtual.h5", "/all"));
    expect_pattern(*frames);
    // Now libhdf5 holds the part open.
    EXPECT_EQ(names_of(files_of_input(frames_in(folder / "virtual.h5", "/all"))), (Names{"virtual.h5", "part.h5"}));
  }
  fs::remove(folder / "part.h5");
  EXPECT_LEPUS_ERROR(open_frames(frames_in(folder / "virtual.h5", "/all")), ErrorKind::input, "part.h5");
}

std::size_t unchanged(unsigned, std::size_t, const unsigned[], std::size_t bytes, std::size_t*, void**) {
  return bytes;
}

TEST(Hdf5Files, a_missing_filter_is_named_when_the_file_is_opened) {
  const TempFolder folder;
  const Hdf5Lock lock;
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, 32008, 1, 1, "bitshuffle; see somewhere", nullptr, nullptr, unchanged};
  if (H5Zfilter_avail(32008) > 0) GTEST_SKIP() << "bitshuffle is installed here: its absence is NOT tried";
  ASSERT_GE(H5Zregister(&filter), 0);
  {
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk[3] = {1, 4, 5};
    H5Pset_chunk(creation, 3, chunk);
    H5Pset_filter(creation, 32008, 0, 0, nullptr);
    write_images(create(folder / "packed.h5"), "/images", creation);
  }
  expect_pattern(*open_frames(frames_in(folder / "packed.h5", "/images")));
  ASSERT_GE(H5Zunregister(32008), 0);
  for (const char* part : {"bitshuffle (32008)", "HDF5_PLUGIN_PATH", "h5repack", "packed.h5:/images"})
    EXPECT_LEPUS_ERROR(open_frames(frames_in(folder / "packed.h5", "/images")), ErrorKind::unsupported, part);
}

TEST(Hdf5Files, chunks_that_were_never_written_are_no_frames) {
  const TempFolder folder;
  const Hdf5Lock lock;
  {
    const Hdf5Id file = create(folder / "empty.h5");
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk[3] = {1, 4, 5};
    H5Pset_chunk(creation, 3, chunk);
    const Hdf5Id space(H5Screate_simple(3, file_shape, nullptr), H5Sclose);
    const Hdf5Id data(H5Dcreate2(file, "/images", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(data.valid());
  }
  EXPECT_LEPUS_ERROR(open_frames(frames_in(folder / "empty.h5", "/images")), ErrorKind::input, "never written");
}

// As a damaged file may say; libhdf5 would make room for 64 of them.
TEST(Hdf5Files, numbers_of_many_bytes_are_no_pixels) {
  const Hdf5Lock lock;
  const Hdf5Id type(H5Tcopy(H5T_IEEE_F64LE), H5Tclose);
  EXPECT_EQ(hdf5_pixel_type(type), PixelType::f64);
  ASSERT_GE(H5Tset_size(type, 20 << 20), 0);
  EXPECT_EQ(hdf5_pixel_type(type), std::nullopt);

  const TempFolder folder;
  {
    const Hdf5Id file = create(folder / "angles.h5");
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id data(H5Dcreate2(file, "/angles", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(data.valid());
  }
  EXPECT_LEPUS_ERROR(read_number_dataset(folder / "angles.h5", "/angles"), ErrorKind::input, "20971520 bytes each");
}

// As h5py stores them.
TEST(Hdf5Files, truth_values_are_numbers) {
  const TempFolder folder;
  const Hdf5Lock lock;
  {
    const Hdf5Id file = create(folder / "flags.h5");
    const Hdf5Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
    const signed char off = 0, on = 1;
    ASSERT_GE(H5Tenum_insert(type, "FALSE", &off), 0);
    ASSERT_GE(H5Tenum_insert(type, "TRUE", &on), 0);
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id data(H5Dcreate2(file, "/flipped", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &on), 0);
  }
  const auto values = list_stored_values(folder / "flags.h5");
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].numbers, std::vector<double>{1});
}

}  // namespace
}  // namespace lepus

#endif

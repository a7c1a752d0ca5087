// SPDX-License-Identifier: Apache-2.0
// Which images of which files are frames, flats and darks, in every order of the axes; and scans that are not what they
// seem.
#include <chrono>

#ifdef LEPUS_HAVE_HDF5
#include "io/hdf5_file.h"
#endif

#include "scan/image_ranges.h"
#include "scan/scan_folder_test.h"

namespace lepus {
namespace {

using namespace scan_test;

const std::string raw_text =
    "[frames.raw]\ncolumns = 16\nrows = 8\n[intensity]\nfrom = \"value\"\nvalue = 60000\n[frames]\nfiles = ";

// 24 frames in files of their own, written a second apart, an hour ago.
void write_series(const ScanFolder& folder) {
  const auto start = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (int i = 0; i < 24; ++i) {
    const std::string name = format("many/{:04}.raw", i);
    folder.write_raw(name, columns * rows);
    std::filesystem::last_write_time(folder.file(name), start + std::chrono::seconds(i));
  }
}

TEST(FrameSeries, AStrangerIsNamed) {
  const ScanFolder folder;
  write_series(folder);
  const std::string text = raw_text + "\"many/*.raw\"\n" + cone_text;
  EXPECT_TRUE(folder.read(text).warnings.empty());
  folder.write_raw("many/preview.raw", columns * rows);
  const Scan scan = folder.read(text);
  ASSERT_EQ(scan.warnings.size(), 1u);
  expect_contains(scan.warnings[0], "preview.raw");
  expect_contains(scan.warnings[0], "0000.raw");
  expect_error(folder.error(raw_text + "\"many/*.raw\"\nviews = 24\n" + cone_text), text, "", "more frames than views",
               "frames.views = 24, there are 25 frames", "preview.raw");
  std::string angles;
  for (int i = 0; i < 24; ++i) angles += format("{}\n", 15 * i);
  folder.write_text("angles.txt", angles);
  const std::string listed = text + "angles_file = \"angles.txt\"\n";
  expect_error(folder.error(listed), listed, "angles_file", "do not match", "24 angles, there are 25 frames",
               "preview.raw");
}

TEST(FrameSeries, FlatsMayHaveNumbersOfTheSeriesAndStrangersToo) {
  const ScanFolder folder;
  write_series(folder);
  for (int i = 10; i < 15; ++i) {
    std::filesystem::create_directories(folder.file("flats"));
    std::filesystem::rename(folder.file(format("many/{:04}.raw", i)), folder.file(format("flats/{:04}.raw", i)));
  }
  const std::string text = raw_text + "\"many/*.raw\"\nflats = \"flats/*.raw\"\n" + cone_text;
  EXPECT_TRUE(folder.read(text).warnings.empty());
  folder.write_raw("flats/bright.raw", columns * rows);
  const Scan scan = folder.read(text);
  ASSERT_EQ(scan.warnings.size(), 1u);
  expect_contains(scan.warnings[0], "frames.flats: bright.raw is named unlike");
}

TEST(FrameSeries, ACopyAmongEqualStepsIsAnError) {
  const ScanFolder folder;
  write_series(folder);
  folder.write_raw("many/0003 (copy).raw", columns * rows);
  const std::string text = raw_text + "\"many/*.raw\"\n" + cone_text;
  const Error error = folder.error(text);
  expect_error(error, text, "files =", "no frame of the series", "equally spaced", "0000.raw");
  expect_contains(error.parts().where, "0003 (copy).raw");
}

TEST(FlatsAtView, AreTimesOfRecordedFramesWhicheverAreSelected) {
  const ScanFolder folder;
  for (const char* name : {"a.raw", "b.raw", "c.raw"}) folder.write_raw(name, columns * rows);
  const auto times = [&](const std::string& selection) {
    const Scan scan =
        folder.read("[frames.raw]\ncolumns = 16\nrows = 8\n[frames]\nfiles = \"frames.raw\"\n" + selection +
                    "flats = [\"a.raw\", \"b.raw\", \"c.raw\"]\nflats_at_view = [0, 6, 12]\n" + cone_text);
    std::vector<double> views;
    for (const Scan::FlatsAt& flats : scan.flat_series) views.push_back(flats.view);
    return views;
  };
  EXPECT_EQ(times(""), (std::vector<double>{0, 6, 12}));
  EXPECT_EQ(times("first_view = 8\n"), (std::vector<double>{-8, -2, 4}));
  EXPECT_EQ(times("last_view = 3\n"), (std::vector<double>{0, 6, 12}));
  // Frame 1 + 2 i is exposed at 1.5 + 2 i, view i at i + 0.5.
  EXPECT_EQ(times("first_view = 1\nview_step = 2\n"), (std::vector<double>{-0.25, 2.75, 5.75}));
}

TEST(FrameSeries, ALostFrameIsNamed) {
  const ScanFolder folder;
  write_series(folder);
  std::filesystem::remove(folder.file("many/0023.raw"));
  const std::string text = raw_text + "\"many/*.raw\"\nviews = 24\n" + cone_text;
  expect_error(folder.error(text), text, "views =", "frames are missing", "there are 23 frames", "0023.raw is missing");
  std::filesystem::remove(folder.file("many/0007.raw"));
  expect_error(folder.error(text), text, "views =", "frames are missing", "there are 22 frames", "0007.raw is missing");
  const std::string unaware = raw_text + "\"many/*.raw\"\n" + cone_text;
  expect_contains(folder.error(unaware).parts().where, "0007.raw");
  EXPECT_EQ(folder.read(frames_text + "views = 12\nlast_view = 5\n" + cone_text).selection.frames.size(), 6u)
      << "counted before the selection";
}

TEST(FrameSeries, AFileOfAnotherTimeIsNamed) {
  const ScanFolder folder;
  write_series(folder);
  folder.write_raw("many/0003.raw", columns * rows);
  const Scan scan = folder.read(raw_text + "\"many/*.raw\"\n" + cone_text);
  ASSERT_EQ(scan.warnings.size(), 1u);
  expect_contains(scan.warnings[0], "0003.raw");
  expect_contains(scan.warnings[0], "older or younger");
}

TEST(ImageRanges, AreReadAndChecked) {
  using Images = std::vector<std::int64_t>;
  EXPECT_EQ(parse_image_ranges("0..3", 4), (Images{0, 1, 2, 3}));
  EXPECT_EQ(parse_image_ranges(" 0..1 , 3,5 .. 6", 7), (Images{0, 1, 3, 5, 6}));
  for (const char* text : {"", "a", "0..", "..3", "3..0", "0,0", "5, 1", "-1", "0..4", "0...3", "1.5", "0,"})
    EXPECT_THROW(parse_image_ranges(text, 4), Error) << text;
}

TEST(ImageRanges, ChooseFramesFlatsAndDarks) {
  const ScanFolder folder;  // frames.raw: 12 images
  const std::string text = frames_text +
                           "images = \"4..10\"\nflats = \"frames.raw\"\nflats_images = \"0..1, 11\"\n"
                           "darks = \"./frames.raw\"\ndarks_images = \"2..3\"\nviews = 7\n" +
                           cone_text;
  const Scan scan = folder.read(text);
  EXPECT_EQ(scan.recorded.frames, 7);
  EXPECT_EQ(scan.geometry.views(), 7);
  expect_contains(open_frames(scan.frames)->name(0), "frames.raw[4]");
  EXPECT_EQ(open_frames(*scan.flats)->frames(), 3);
  expect_contains(open_frames(*scan.flats)->name(2), "frames.raw[11]");
  EXPECT_EQ(open_frames(*scan.darks)->frames(), 2);
  EXPECT_EQ(folder.read(scan.resolved).frames.images, scan.frames.images);
  // A list of angles may be that of all images.
  std::string angles;
  for (int i = 0; i < 12; ++i) angles += format("{}\n", 10 * i);
  folder.write_text("angles.txt", angles);
  const Scan listed = folder.read(text + "angles_file = \"angles.txt\"\n");
  EXPECT_EQ(listed.listed_angles_deg, (std::vector<double>{40, 50, 60, 70, 80, 90, 100}));

  const std::string beyond = frames_text + "images = \"4..12\"\n" + cone_text;
  expect_error(folder.error(beyond), beyond, "images =", "does not say which images", "image 12 is past the end",
               "0..9");
}

TEST(ImageRanges, FlatsThatAreFramesAreRefused) {
  const ScanFolder folder;
  folder.write_raw("flats.raw", columns * rows);
  std::string text = frames_text + "flats = \"./frames.raw\"\n" + cone_text;
  expect_error(folder.error(text), text, "flats =", "flats are frames of the scan", "frames.raw[0]", "flats_images");
  text = frames_text + "images = \"2..11\"\ndarks = \"frames.raw\"\ndarks_images = \"0..2\"\n" + cone_text;
  expect_error(folder.error(text), text, "darks =", "darks are frames of the scan", "frames.raw[2]", "darks_images");
  text = frames_text + "flats = \"flats.raw\"\ndarks = \"flats.raw\"\n" + cone_text;
  expect_error(folder.error(text), text, "darks =", "darks are the flats", "flats.raw", "");
  text = frames_text + "flats_images = \"0\"\n" + cone_text;
  expect_error(folder.error(text), text, "flats_images", "frames.flats is not", "", "add flats");
}

// A stack of 4 views of 3 rows and 5 columns in every order of its axes gives the same frames.
TEST(FrameAxes, EveryOrderGivesTheSameFrames) {
  const ScanFolder folder;
  const std::int64_t size[] = {4, 3, 5};  // view, row, column
  const std::string words[] = {"view", "row", "column"};
  for (const auto& order : {std::array{0, 1, 2}, std::array{1, 0, 2}, std::array{0, 2, 1}, std::array{1, 2, 0},
                            std::array{2, 1, 0}, std::array{2, 0, 1}}) {
    std::vector<std::uint16_t> data;
    std::int64_t at[3];
    for (at[order[0]] = 0; at[order[0]] < size[order[0]]; ++at[order[0]])
      for (at[order[1]] = 0; at[order[1]] < size[order[1]]; ++at[order[1]])
        for (at[order[2]] = 0; at[order[2]] < size[order[2]]; ++at[order[2]])
          data.push_back(static_cast<std::uint16_t>(100 * at[0] + 10 * at[1] + at[2]));
    folder.write_text("axes.raw", std::string(reinterpret_cast<const char*>(data.data()), 2 * data.size()));
    const std::string axes = words[static_cast<std::size_t>(order[0])] + "-" +
                             words[static_cast<std::size_t>(order[1])] + "-" +
                             words[static_cast<std::size_t>(order[2])];
    SCOPED_TRACE(axes);
    const Scan scan = folder.read(format("[frames.raw]\ncolumns = {}\nrows = {}\n[intensity]\nfrom = "
                                         "\"detector-maximum\"\n[frames]\nfiles = \"axes.raw\"\naxes = \"{}\"\n",
                                         size[order[2]], size[order[1]], axes) +
                                  cone_text);
    const auto source = open_frames(scan.frames);
    ASSERT_EQ(source->frames(), 4);
    ASSERT_EQ(source->rows(), 3);
    ASSERT_EQ(source->columns(), 5);
    for (std::int64_t view = 0; view < 4; ++view) {
      std::vector<std::uint16_t> band(10);
      source->read_native(view, 1, 3, band.data());
      for (std::int64_t i = 0; i < 10; ++i)
        EXPECT_EQ(band[static_cast<std::size_t>(i)], 100 * view + 10 * (1 + i / 5) + i % 5);
    }
    EXPECT_EQ(folder.read(scan.resolved).frames.order, scan.frames.order);
  }
  const std::string twice = frames_text + "order = \"frames\"\naxes = \"view-row-column\"\n" + cone_text;
  expect_error(folder.error(twice), twice, "axes", "given twice", "frames.order and frames.axes", "keep one");
}

TEST(FrameAxes, TransposedFlatsComeWithTransposedFrames) {
  const ScanFolder folder;
  folder.write_raw("flats.raw", 16 * 8);
  const std::string text = frames_text + "axes = \"view-column-row\"\nflats = \"flats.raw\"\n" + cone_text;
  const Scan scan = folder.read(text);
  EXPECT_EQ(scan.recorded.columns, 8);
  EXPECT_EQ(scan.recorded.rows, 16);
  EXPECT_EQ(scan.flats->order, FrameOrder::frames_turned);
  EXPECT_EQ(open_frames(*scan.flats)->columns(), 8);
  EXPECT_EQ(folder
                .read(frames_text +
                      "axes = \"view-column-row\"\nflats = \"flats.raw\"\nflats_axes = "
                      "\"view-row-column\"\n" +
                      cone_text)
                .flats->order,
            FrameOrder::frames);
}

TEST(AnglesUnit, RadiansAreAskedForAndRead) {
  const ScanFolder folder;
  std::string radians_text, degrees_text;
  for (int i = 0; i < 12; ++i) {
    radians_text += format("{}\n", i * pi / 6);
    degrees_text += format("{}\n", i * 30);
  }
  folder.write_text("rad.txt", radians_text);
  folder.write_text("deg.txt", degrees_text);
  const std::string text = scan_text + "angles_file = \"rad.txt\"\n";
  const Scan asked = folder.read(text);
  ASSERT_EQ(asked.warnings.size(), 1u);
  expect_contains(asked.warnings[0], "geometry.angles_file: the angles span 6.28319 degrees");
  expect_contains(asked.warnings[0], "angles_unit = \"radians\"");
  const Scan told = folder.read(text + "angles_unit = \"radians\"\n");
  EXPECT_TRUE(told.warnings.empty());
  EXPECT_NEAR(told.listed_angles_deg[11], 330, 1e-12);
  EXPECT_TRUE(folder.read(text + "angles_unit = \"degrees\"\n").warnings.empty());
  EXPECT_TRUE(folder.read(scan_text + "angles_file = \"deg.txt\"\n").warnings.empty());
  for (const char* arc : {"6.28319", "3.14", "3.14159265"}) {
    const Scan scan = folder.read(scan_text + "arc_deg = " + arc + "\n");
    ASSERT_EQ(scan.warnings.size(), 1u) << arc;
    expect_contains(scan.warnings[0], "geometry.arc_deg");
  }
  for (const char* arc : {"6", "3.1", "3.2", "6.3", "20", "190"})
    EXPECT_TRUE(folder.read(scan_text + "arc_deg = " + arc + "\n").warnings.empty()) << arc;
  const std::string useless = scan_text + "angles_unit = \"radians\"\n";
  expect_error(folder.error(useless), useless, "angles_unit", "has no use here", "arc_deg is in degrees",
               "angles_file");
}

#ifdef LEPUS_HAVE_HDF5
// A list of numbers beside the images, its unit as h5py writes it (of variable length).
void write_list(const std::filesystem::path& path, const char* name, const std::vector<double>& values,
                const char* units) {
  const Hdf5Lock lock;
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  const hsize_t count = values.size();
  const Hdf5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Hdf5Id data(H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  ASSERT_GE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  if (!units) return;
  const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  const Hdf5Id one(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Id attribute(H5Acreate2(data, "units", type, one, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  ASSERT_GE(H5Awrite(attribute, type, &units), 0);
}

// 2 darks, 3 flats, 12 frames, one of them invalid, a flat at the end.
TEST(ImageKeys, SortOneDatasetAndItsAngles) {
  const ScanFolder folder;
  const auto writer =
      create_frames(folder.file("nx.h5"),
                    {.columns = columns, .rows = rows, .frames = 18, .type = PixelType::u16, .dataset = "/data"});
  const std::vector<std::uint16_t> image(static_cast<std::size_t>(columns * rows), 7);
  for (int i = 0; i < 18; ++i) writer->write(image.data());
  writer->finish();
  std::vector<double> keys{2, 2, 1, 1, 1}, angles(18);
  for (int i = 0; i < 12; ++i) keys.push_back(i == 4 ? 3 : 0);
  keys.push_back(1);
  for (std::size_t i = 0; i < angles.size(); ++i) angles[i] = 0.25 * static_cast<double>(i);
  write_list(folder.file("nx.h5"), "/key", keys, nullptr);
  write_list(folder.file("nx.h5"), "/angle", angles, "rad");
  write_list(folder.file("nx.h5"), "/odd", angles, "furlong");
  write_list(folder.file("nx.h5"), "/short", {0, 1}, nullptr);

  const std::string text = "[frames]\nfiles = \"nx.h5\"\ndataset = \"/data\"\nimage_key = \"/key\"\n" + cone_text;
  const Scan scan = folder.read(text + "angles_dataset = \"/angle\"\n");
  EXPECT_EQ(scan.recorded.frames, 11);
  EXPECT_EQ(open_frames(*scan.flats)->frames(), 4);
  EXPECT_EQ(open_frames(*scan.darks)->frames(), 2);
  EXPECT_EQ(scan.intensity, Intensity::flats);
  EXPECT_NEAR(scan.listed_angles_deg[0], degrees(1.25), 1e-12);
  EXPECT_NEAR(scan.listed_angles_deg[4], degrees(2.5), 1e-12) << "the invalid one is left out";
  EXPECT_TRUE(scan.warnings.empty());
  const Scan again = folder.read(scan.resolved);
  EXPECT_EQ(again.listed_angles_deg, scan.listed_angles_deg);
  EXPECT_EQ(again.frames.images, scan.frames.images);

  const std::string odd = text + "angles_dataset = \"/odd\"\n";
  expect_error(folder.error(odd), odd, "angles_dataset", "unit that is not known", "furlong", "angles_unit");
  EXPECT_NEAR(folder.read(odd + "angles_unit = \"degrees\"\n").listed_angles_deg[0], 1.25, 1e-12);
  const std::string wrong = "[frames]\nfiles = \"nx.h5\"\ndataset = \"/data\"\nimage_key = \"/short\"\n" + cone_text;
  expect_error(folder.error(wrong), wrong, "image_key", "image keys cannot be used", "2 keys for 18 images", "");
  const std::string all =
      "[frames]\nfiles = \"nx.h5\"\ndataset = \"/data\"\nflats = \"nx.h5\"\nflats_dataset = "
      "\"/data\"\n" +
      cone_text;
  expect_error(folder.error(all), all, "flats =", "flats are frames of the scan", "nx.h5:/data[0]", "image_key");
}

TEST(AnglesDataset, OfEachFileFollowEachOther) {
  const ScanFolder folder;
  for (const int part : {0, 1}) {
    const auto file = folder.file(format("part{}.h5", part));
    const auto writer = create_frames(
        file, {.columns = columns, .rows = rows, .frames = 2, .type = PixelType::u16, .dataset = "/data"});
    const std::vector<std::uint16_t> image(static_cast<std::size_t>(columns * rows), 7);
    for (int i = 0; i < 2; ++i) writer->write(image.data());
    writer->finish();
    write_list(file, "/theta", {10.0 * part, 10.0 * part + 5}, "deg");
  }
  const std::string text = "[frames]\nfiles = \"part*.h5\"\ndataset = \"/data\"\ncontent = \"line-integrals\"\n";
  const std::string angles = cone_text + "angles_dataset = \"/theta\"\n";
  EXPECT_EQ(folder.read(text + angles).listed_angles_deg, (std::vector<double>{0, 5, 10, 15}));
  // As many frames as the first file has angles, which are not theirs.
  EXPECT_EQ(folder.read(text + "images = \"2..3\"\n" + angles).listed_angles_deg, (std::vector<double>{10, 15}));
  write_list(folder.file("part0.h5"), "/key", {2, 1}, nullptr);
  write_list(folder.file("part1.h5"), "/key", {0, 0}, nullptr);
  const std::string keyed = "[frames]\nfiles = \"part*.h5\"\ndataset = \"/data\"\nimage_key = \"/key\"\n";
  EXPECT_EQ(folder.read(keyed + angles).listed_angles_deg, (std::vector<double>{10, 15}));
  // Those of the chosen frames, and no list in the other file.
  write_list(folder.file("part0.h5"), "/chosen", {20, 40}, "deg");
  const std::string chosen = cone_text + "angles_dataset = \"/chosen\"\n";
  EXPECT_EQ(folder.read(text + "images = \"1..2\"\n" + chosen).listed_angles_deg, (std::vector<double>{20, 40}));
  const std::string too_few = text + chosen;
  expect_error(folder.error(too_few), too_few, "angles_dataset", "/chosen cannot be opened", "", "");
}
#endif

}  // namespace
}  // namespace lepus

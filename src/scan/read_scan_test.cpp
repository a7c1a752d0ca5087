// SPDX-License-Identifier: Apache-2.0
// Frames, selections, intensity, the resolved file, and scan files that are broken at random.
#include <random>

#include "scan/scan_folder_test.h"

namespace lepus {
namespace {

using namespace scan_test;

void expect_same(const Scan& a, const Scan& b) {
  EXPECT_EQ(a.frames.files, b.frames.files);
  EXPECT_EQ(a.frames.dataset, b.frames.dataset);
  EXPECT_EQ(a.frames.order, b.frames.order);
  EXPECT_EQ(a.frames.raw.has_value(), b.frames.raw.has_value());
  EXPECT_EQ(a.selection.frames, b.selection.frames);
  EXPECT_EQ(a.selection.first_row, b.selection.first_row);
  EXPECT_EQ(a.selection.row_step, b.selection.row_step);
  EXPECT_EQ(a.selection.rows, b.selection.rows);
  ASSERT_EQ(a.flats.has_value(), b.flats.has_value());
  if (a.flats) {
    EXPECT_EQ(a.flats->files, b.flats->files);
  }
  ASSERT_EQ(a.darks.has_value(), b.darks.has_value());
  EXPECT_EQ(a.content, b.content);
  EXPECT_EQ(a.intensity, b.intensity);
  EXPECT_EQ(a.intensity_value, b.intensity_value);
  EXPECT_EQ(a.maximum_bad_fraction, b.maximum_bad_fraction);
  EXPECT_EQ(a.saturation_level, b.saturation_level);
  EXPECT_EQ(a.geometry.beam, b.geometry.beam);
  EXPECT_EQ(a.geometry.columns, b.geometry.columns);
  EXPECT_EQ(a.geometry.rows, b.geometry.rows);
  EXPECT_EQ(a.geometry.source_detector_mm, b.geometry.source_detector_mm);
  EXPECT_TRUE(a.geometry.matrices == b.geometry.matrices) << "bit for bit";
  EXPECT_TRUE(a.grid == b.grid) << "bit for bit";
  EXPECT_EQ(a.field_of_view_mask, b.field_of_view_mask);
  ASSERT_EQ(a.corrections.size(), b.corrections.size());
  for (std::size_t i = 0; i < a.corrections.size(); ++i) {
    EXPECT_EQ(a.corrections[i].kind, b.corrections[i].kind);
    EXPECT_EQ(a.corrections[i].parameters, b.corrections[i].parameters);
  }
  EXPECT_EQ(a.filter.window, b.filter.window);
  EXPECT_EQ(a.filter.cutoff, b.filter.cutoff);
  EXPECT_EQ(a.filter.spatial_hamming_samples, b.filter.spatial_hamming_samples);
  EXPECT_EQ(a.filter.extrapolate, b.filter.extrapolate);
  EXPECT_EQ(a.interpolation, b.interpolation);
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.resolved, b.resolved) << "resolving what is resolved changes nothing";
}

TEST(ReadScan, MinimalFileGetsDefaults) {
  const ScanFolder folder;
  const Scan scan = folder.read(scan_text);
  EXPECT_EQ(scan.recorded.columns, columns);
  EXPECT_EQ(scan.recorded.rows, rows);
  EXPECT_EQ(scan.recorded.frames, frames);
  EXPECT_EQ(scan.recorded.type, PixelType::u16);
  EXPECT_EQ(scan.geometry.views(), frames);
  EXPECT_EQ(scan.selection.frames.size(), 12u);
  EXPECT_EQ(scan.intensity, Intensity::value);
  EXPECT_EQ(scan.intensity_value, 60000);
  EXPECT_TRUE(scan.automatic_grid);
  EXPECT_EQ(scan.filter.window, Window::ram_lak);
  EXPECT_EQ(scan.interpolation, Interpolation::linear);
  EXPECT_EQ(scan.output, "");
  EXPECT_TRUE(scan.warnings.empty()) << scan.warnings.front();
}

TEST(ReadScan, ReadsFromDisk) {
  const ScanFolder folder;
  folder.write_text("scan.toml", scan_text);
  expect_same(read_scan(folder.file("scan.toml")), folder.read(scan_text));
  for (const auto& [name, why] : {std::pair{"other.toml", "no such file"}, {"", ""}}) {
    try {
      read_scan(folder.file(name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      expect_contains(error.parts().where, name);
      expect_contains(error.parts().why, why);
    }
  }
}

TEST(ReadScan, ResolvedFileGivesTheSameScan) {
  const ScanFolder folder;
  folder.write_raw("flats/1.raw", columns * rows * 2);
  folder.write_raw("darks/1.raw", columns * rows);
  std::string angles, jitter, matrices;
  for (int i = 0; i < 16; ++i) angles += format("{} # entry {}\n", 0.1 + 29.7 * i, i);
  for (int i = 0; i < frames; ++i) jitter += format("{}, 0, 0, 0, {}, 0, 0.1, 0, 0, {}\n", 0.01 * i, 0.02 * i, 0.3);
  folder.write_text("angles.txt", angles);
  folder.write_text("jitter.csv", jitter);
  for (const auto& matrix : folder.read(scan_text).geometry.matrices)
    for (const double x : matrix.m) matrices += format("{} ", 3.7 * x);
  folder.write_text("matrices.txt", matrices);

  const std::vector<std::string> cases{
      scan_text,
      scan_text + "angle_step_deg = 30\nfirst_angle_deg = -3.3\ndirection = \"clockwise\"\n",
      scan_text + "angles_file = \"angles.txt\"\nfirst_angle_index = 2\nperturbations_file = \"jitter.csv\"\n",
      scan_text + "angles_deg = [0, 0.1, 2, 3, 40, 50, 60.1, 70, 80, 90, 100, 110]\npitch_deg = 0.1\nyaw_deg = 0.7\n",
      frames_text + "[geometry]\nmatrices_file = \"matrices.txt\"\nsource_detector_mm = 200\n",
      frames_text + "[geometry]\nbeam = \"parallel\"\npixel_width_mm = 0.3\npixel_height_mm = 0.1\narc_deg = 180\n",
      frames_text +
          "[geometry]\nbeam = \"fan\"\ndetector = \"arc\"\nsource_axis_mm = 99.9\nsource_detector_mm = 123.4\n"
          "pixel_width_mm = 0.7\n",
      frames_text + "first_view = 1\nlast_view = 9\nview_step = 2\nfirst_row = 2\nlast_row = 6\nrow_step = 2\n" +
          cone_text,
      scan_text +
          "[volume]\nsize = [7, 6, 5]\nmirror = [false, true, true]\nvoxel_mm = [0.3, 0.4, 0.35]\n"
          "centre_mm = [0.1, -0.2, 0.3]\nfirst_slice = 1\nslice_step = 2\nregion_px = [1, 5, 2, 6]\nmask = false\n",
      scan_text + "[volume]\nvoxel_mm = 0.3\n",
      "[frames.raw]\ncolumns = 16\nrows = 8\n[frames]\nfiles = \"frames.raw\"\ncontent = \"line-integrals\"\n" +
          cone_text,
      scan_text + "[[post]]\nkind = \"crop\"\nx = [3, 6]\nz = [0, 4]\n",
      scan_text +
          "[filter]\nwindow = \"hann\"\ncutoff = 0.7\nspatial_hamming_samples = 5\nextrapolate = 0.25\n"
          "[backprojection]\ninterpolation = \"cubic\"\n[[correct]]\nkind = \"dead-pixels\"\n[[correct]]\nkind = "
          "\"dead-pixels\"\nthreshold = 0.125\n[output]\nfile = \"a \\\"b\\\" \\\\ \\t.mha\"\n",
      "[frames]\nfiles = [\"frames.raw\"]\nflats = \"flats/*.raw\"\ndarks = \"darks/*.raw\"\nsaturation_level = 4095\n"
      "[frames.raw]\ncolumns = 16\nrows = 8\nframes_per_file = 12\n" +
          cone_text,
  };
  for (const auto& text : cases) {
    SCOPED_TRACE(text);
    const Scan scan = folder.read(text);
    SCOPED_TRACE(scan.resolved);
    expect_same(scan, folder.read(scan.resolved));
  }
}

TEST(ReadScan, ResolvedFileSaysWhatFollowsFromTheScan) {
  const ScanFolder folder;
  const std::string text = folder.read(scan_text).resolved;
  for (const char* line : {"files = [\"frames.raw\"]\n", "last_view = 11\n", "last_row = 7\n", "columns = 16\n",
                           "pixel_height_mm = 1.0\n", "arc_deg = 360.0\n", "voxel_mm = [0.5, 0.5, 0.5]\n",
                           "window = \"ram-lak\"\n", "from = \"value\"\n", "interpolation = \"linear\"\n"})
    expect_contains(text, line);
  EXPECT_EQ(text.find("\"auto\""), std::string::npos);
  EXPECT_EQ(text.find("dataset"), std::string::npos) << "no HDF5 here";
  EXPECT_EQ(text.find("matrices_unit"), std::string::npos);
}

TEST(ReadScan, SelectionOfViewsAndRows) {
  const ScanFolder folder;
  const Scan scan = folder.read(
      frames_text + "first_view = 1\nlast_view = 10\nview_step = 4\nfirst_row = 1\nlast_row = 6\nrow_step = 2\n" +
      cone_text);
  EXPECT_EQ(scan.selection.frames, (std::vector<std::int64_t>{1, 5, 9}));
  EXPECT_EQ(scan.selection.first_row, 1);
  EXPECT_EQ(scan.selection.row_step, 2);
  EXPECT_EQ(scan.selection.rows, 3);
  EXPECT_EQ(scan.geometry.views(), 3);
  EXPECT_EQ(scan.geometry.rows, 3);

  std::string text = frames_text + "first_view = 12\n" + cone_text;
  expect_error(folder.error(text), text, "first_view", "frames.first_view = 12 is past the end", "12 frames",
               "0 to 11");
  text = frames_text + "last_row = 8\n" + cone_text;
  expect_error(folder.error(text), text, "last_row", "frames.last_row = 8 is past the end", "8 rows", "0 to 7");
  text = frames_text + "first_view = 5\nlast_view = 4\n" + cone_text;
  expect_error(folder.error(text), text, "last_view", "no frames are selected", "first_view = 5", "");
}

TEST(ReadScan, FilesAreFoundAndNamed) {
  const ScanFolder folder;
  for (const char* name : {"many/f2.raw", "many/f10.raw", "many/f1.raw"}) folder.write_raw(name, columns * rows);
  const std::string many =
      "[frames.raw]\ncolumns = 16\nrows = 8\n[intensity]\nfrom = \"detector-maximum\"\n[frames]\nfiles = ";
  const Scan scan = folder.read(many + "\"many/*.raw\"\n" + cone_text);
  ASSERT_EQ(scan.frames.files.size(), 3u);
  EXPECT_EQ(scan.frames.files[2].filename(), "f10.raw");
  EXPECT_EQ(folder.read(many + "[\"many/f10.raw\", \"many/f[12].raw\"]\n" + cone_text).frames.files[0].filename(),
            "f10.raw");

  std::string text = many + "\"none/*.raw\"\n" + cone_text;
  Error error = folder.error(text);
  expect_error(error, text, "files =", "no file", "", "");
  expect_contains(error.what(), "none/*.raw");
  text = cone_text;
  expect_error(folder.error(text), text, "", "frames.files is missing", "a scan needs frames",
               "add files = ... to [frames]");
  text = "[intensity]\nfrom = \"detector-maximum\"\n[frames]\nfiles = \"frames.raw\"\n" + cone_text;
  expect_error(folder.error(text), text, "[frames]", "frames.raw.columns is missing", "without a header (frames.raw)",
               "[frames.raw]");
  text = "[frames.raw]\ncolumns = 17\nrows = 8\n[frames]\nfiles = \"frames.raw\"\n" + cone_text;
  error = folder.error(text);
  expect_error(error, text, "files =", "raw file", "", "");
  expect_contains(error.parts().where, "frames.raw");
  text = frames_text + "dataset = \"/a\"\n" + cone_text;
  expect_error(folder.error(text), text, "dataset",
               "frames.dataset is only for HDF5, MATLAB, .npz, FITS and Zeiss files", "frames.raw", "leave it out");
  text = frames_text + "flats_dataset = \"/a\"\n" + cone_text;
  expect_error(folder.error(text), text, "flats_dataset", "frames.flats is not", "", "add flats");
}

TEST(ReadScan, FlatsAndDarksHaveTheFramesSize) {
  const ScanFolder folder;
  folder.write_raw("flats.raw", columns * rows * 3);
  folder.write_raw("darks.raw", columns * rows * 3);
  folder.write_raw("small.raw", columns * rows - 5);
  const std::string text = frames_text + "flats = \"flats.raw\"\ndarks = \"darks.raw\"\n" + cone_text;
  const Scan scan = folder.read(text);
  ASSERT_TRUE(scan.flats && scan.darks);
  EXPECT_EQ(open_frames(*scan.flats)->frames(), 3) << "as many as the file holds";
  EXPECT_EQ(scan.intensity, Intensity::value) << "what the file says goes before the flats";
  const std::string short_flat = frames_text + "flats = \"small.raw\"\n" + cone_text;
  const Error error = folder.error(short_flat);
  EXPECT_EQ(error.kind(), ErrorKind::input);
  expect_contains(error.parts().where, "small.raw");
  expect_contains(error.parts().where, format("scan.toml:{}", line_of(short_flat, "flats =")));
  const std::string missing = frames_text + "flats = \"no.raw\"\n" + cone_text;
  expect_contains(folder.error(missing).what(), "no.raw");
}

TEST(ReadScan, IntensityRules) {
  const ScanFolder folder;
  folder.write_raw("flats.raw", columns * rows);
  const std::string bare = "[frames.raw]\ncolumns = 16\nrows = 8\n" + cone_text + "[frames]\nfiles = \"frames.raw\"\n";
  EXPECT_EQ(folder.read(bare + "flats = \"flats.raw\"\n").intensity, Intensity::flats);
  EXPECT_EQ(folder.read(bare + "[intensity]\nfrom = \"detector-maximum\"\n").intensity, Intensity::detector_maximum);
  const Scan air = folder.read(bare + "[intensity]\nfrom = \"air-region\"\nair_region_px = [0, 3, 1, 8]\n");
  ASSERT_TRUE(air.air_region);
  EXPECT_EQ(air.air_region->column1, 3);
  EXPECT_EQ(air.air_region->row0, 1);
  EXPECT_EQ(folder.read(bare + "content = \"line-integrals\"\n").content, FrameContent::line_integrals);

  const Error none = folder.error(bare);
  expect_error(none, bare, "files =", "the intensity without an object is not known", "no flats", "frames.flats");
  for (const char* option : {"\"value\"", "\"air-region\"", "\"detector-maximum\""})
    expect_contains(none.parts().hint, option);
  std::string text = bare + "[intensity]\nvalue = 5\n";
  expect_error(folder.error(text), text, "[intensity]", "not known", "intensity.from is not set", "from = \"value\"");
  text = bare + "[intensity]\nfrom = \"value\"\n";
  expect_error(folder.error(text), text, "[intensity]", "intensity.value is missing", "from = \"value\"",
               "darks already");
  text = bare + "[intensity]\nfrom = \"flats\"\n";
  expect_error(folder.error(text), text, "from", "there are no flats", "frames.flats is not set", "add frames.flats");
  text = bare + "[intensity]\nfrom = \"detector-maximum\"\nvalue = 5\n";
  expect_error(folder.error(text), text, "value", "intensity.value has no use here", "detector-maximum", "leave");
  text = bare + "[intensity]\nfrom = \"air-region\"\nair_region_px = [0, 17, 0, 8]\n";
  expect_error(folder.error(text), text, "air_region_px", "leaves the detector", "16 x 8 pixels", "column0");
  text = bare + "content = \"line-integrals\"\nflats = \"flats.raw\"\n";
  expect_error(folder.error(text), text, "flats =", "frames.flats has no use here", "line-integrals", "counts");
}

TEST(ReadScan, FilterOptions) {
  const ScanFolder folder;
  const std::string text = scan_text + "[filter]\nspatial_hamming_samples = 4\n";
  expect_error(folder.error(text), text, "spatial", "must be odd", "found 4", "use 5");
}

#ifdef LEPUS_HAVE_HDF5
TEST(ReadScan, Hdf5FramesWithAnglesDataset) {
  const ScanFolder folder;
  const auto write = [&](const char* name, const char* dataset, std::int64_t n, std::int64_t w, std::int64_t h,
                         double step) {
    const auto writer = create_frames(
        folder.file(name), {.columns = w, .rows = h, .frames = n, .type = PixelType::f32, .dataset = dataset});
    std::vector<float> image(static_cast<std::size_t>(w * h));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < image.size(); ++j) image[j] = static_cast<float>(step * static_cast<double>(j));
      writer->write(image.data());
    }
    writer->finish();
  };
  write("scan.h5", "/exchange/data", frames, columns, rows, 0);
  write("flat.h5", "/exchange/data_white", 2, columns, rows, 0);
  const std::string text = "[frames]\nfiles = \"scan.h5\"\nflats = \"flat.h5\"\n" + cone_text;
  const Scan scan = folder.read(text);
  EXPECT_EQ(scan.recorded.frames, frames);
  EXPECT_EQ(scan.recorded.type, PixelType::f32);
  EXPECT_EQ(scan.frames.dataset, "/exchange/data");
  EXPECT_EQ(scan.flats->dataset, "/exchange/data_white");
  expect_same(scan, folder.read(scan.resolved));
  // The angles: a dataset of 12 numbers, 0, 30, 60, ...
  write("angles.h5", "/exchange/theta", 1, frames, 1, 30.0);
  const std::string bad =
      "[frames]\nfiles = \"scan.h5\"\nflats = \"flat.h5\"\n" + cone_text + "angles_dataset = \"/exchange/nothing\"\n";
  const Error error = folder.error(bad);
  expect_error(error, bad, "angles_dataset", "/exchange/nothing cannot be opened", "", "/exchange/data");
  const std::string wrong =
      "[frames]\nfiles = \"scan.h5\"\nflats = \"flat.h5\"\n" + cone_text + "angles_dataset = \"/exchange/data\"\n";
  expect_error(folder.error(wrong), wrong, "angles_dataset", "the angles do not match the frames",
               "1536 angles, there are 12 frames", "first_angle_index");
  const std::string one_row =
      "[frames]\nfiles = \"angles.h5\"\ndataset = \"/exchange/theta\"\ncontent = \"line-integrals\"\nlast_view = 0\n" +
      cone_text + "angles_dataset = \"/exchange/theta\"\nfirst_angle_index = 3\n";
  // 12 entries, one frame: entry 3 is 90 degrees, so the source is at +x and w grows along -x.
  const Scan turned = folder.read(one_row);
  EXPECT_NEAR(turned.geometry.matrices[0](2, 0), -0.01, 1e-12);
}
#endif

// Whatever stands in the file, it gives a Scan or an Error: bytes changed, removed, doubled, lines shuffled.
TEST(ReadScan, BrokenFilesNeverCrash) {
  const ScanFolder folder;
  folder.write_text("angles.txt", "0 30 60 90 120 150 180 210 240 270 300 330\n");
  const std::string valid =
      scan_text +
      "angles_file = \"angles.txt\"\nfirst_angle_index = 0\ndetector_shift_u_mm = 0.25\nyaw_deg = 1e-1\n[volume]\n"
      "size = [8, 9, 4]\nvoxel_mm = [0.5, 0.5, 0.75]\nmirror = [false, true, false]\nlast_slice = 3\n"
      "region_px = [0, 8, 1, 8]\n[[correct]]\nkind = \"dead-pixels\"\nthreshold = 0.1\n[filter]\nwindow = \"hann\"\n";
  folder.read(valid);
  std::mt19937 random(20240607);
  const std::string alphabet = "0123456789.-+e[]{}=\"'#\n ,_abcxyz\\\t\x01\xff/*";
  int fine = 0, errors = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = valid;
    const int edits = 1 + static_cast<int>(random() % 6);
    for (int edit = 0; edit < edits && !text.empty(); ++edit) {
      const auto at = random() % text.size();
      const auto length = std::min<std::size_t>(1 + random() % 12, text.size() - at);
      switch (random() % 20) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
          break;
        case 3:
          text.insert(at, text.substr(random() % text.size(), length));
          break;
        default:  // another number, so that what comes after the parser is reached too
          if (const auto digit = text.find_first_of("0123456789", at); digit != std::string::npos)
            text[digit] = static_cast<char>('0' + random() % 10);
          break;
      }
    }
    try {
      const Scan scan = folder.read(text);
      EXPECT_GT(scan.grid.voxels(), 0);
      EXPECT_EQ(static_cast<std::size_t>(scan.geometry.views()), scan.selection.frames.size());
      ++fine;
    } catch (const Error& error) {
      EXPECT_FALSE(error.parts().what.empty()) << text;
      EXPECT_NE(error.kind(), ErrorKind::internal) << text << error.what();
      ++errors;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << text;
    }
  }
  // Both ways must really have been taken.
  EXPECT_GT(fine, 50);
  EXPECT_GT(errors, 1000);
}

}  // namespace
}  // namespace lepus

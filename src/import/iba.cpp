// SPDX-License-Identifier: Apache-2.0
// IBA (iMagX, adaPTinsight): projections as DICOM objects (iba_dicom.cpp), or one XML file <image ... rawFile="...">
// for each projection with its pixels beside it, and a room setup with the distances. The angles are not in the latter.
// docs/scanners/iba.md.
#include <algorithm>
#include <array>

#include "core/folder.h"
#include "core/format.h"
#include "core/input_file.h"
#include "import/frame_series.h"
#include "import/iba_calibration.h"
#include "import/iba_dicom.h"
#include "import/open_beam.h"
#include "import/scanner.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

HeaderFields read_attributes(const fs::path& file) {
  constexpr std::int64_t largest_xml = std::int64_t{1} << 20;
  return iba_attributes({read_text_file(file, largest_xml), file, file.filename().string()});
}

PixelType pixel_type(HeaderFields& header) {
  const std::string word = header.text("image/pixelFormat", "frames.raw.type").value_or("");
  constexpr std::array types{std::pair{"Type_uint8", PixelType::u8},   std::pair{"Type_sint8", PixelType::i8},
                             std::pair{"Type_uint16", PixelType::u16}, std::pair{"Type_sint16", PixelType::i16},
                             std::pair{"Type_uint32", PixelType::u32}, std::pair{"Type_sint32", PixelType::i32},
                             std::pair{"Type_float", PixelType::f32}};
  for (const auto& [name, type] : types)
    if (word == name) return type;
  header.fail("image/pixelFormat", "the type of the pixels is not known", format("pixelFormat is \"{}\"", word),
              "Type_uint8 to Type_sint32 and Type_float are read");
}

// One projection: its pixels and where they lie.
struct IbaImage {
  std::int64_t columns = 0, rows = 0;
  PixelType type = PixelType::u16;
  bool big_endian = false;
  double width_mm = 0, height_mm = 0;
  std::array<double, 2> first_pixel_mm{};  // on the detector; of an image without matrixTransform not used
  bool placed = false;
  friend bool operator==(const IbaImage&, const IbaImage&) = default;
};

IbaImage read_image(HeaderFields& header) {
  IbaImage image;
  image.type = pixel_type(header);
  image.big_endian = header.text("image/byteOrder", "frames.raw.byte_order").value_or("") != "LSB";
  image.columns = header.require_count("size/x", "geometry.columns");
  image.rows = header.require_count("size/y", "geometry.rows");
  if (const auto images = header.count("size/z", "").value_or(1); images > 1)
    header.fail("size/z", "the file holds several images", format("z is {}", images), "one projection a file is read");
  image.width_mm = header.require_length("spacing/x", "geometry.pixel_width_mm");
  image.height_mm = header.require_length("spacing/y", "geometry.pixel_height_mm");
  const auto matrix = header.text("image/matrixTransform", "geometry.detector_shift_u_mm");
  if (!matrix) return image;
  const std::vector<double> m = parse_numbers(*matrix, "matrixTransform", header.file());
  if (m.size() != 16 || m[15] == 0)
    header.fail("image/matrixTransform", "matrixTransform is no 4 x 4 matrix", *matrix, "correct the header");
  for (std::size_t i = 0; i < 12; ++i)
    if (i % 4 != 3 && m[i] / m[15] != (i % 5 == 0 ? 1 : 0))
      header.fail("image/matrixTransform", "the image is turned", *matrix,
                  "only images along the detector's axes are read");
  image.first_pixel_mm = {m[3] / m[15], m[7] / m[15]};
  image.placed = image.first_pixel_mm != std::array<double, 2>{};
  return image;
}

class Iba final : public Scanner {
public:
  std::string_view name() const override { return "iba"; }
  std::string_view title() const override { return "IBA iMagX, adaPTinsight (.dcm of IBA, .xml with <image name=)"; }

  // All projections of a folder are one scan; its first file stands for it.
  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    auto found = headers_with(files, ".xml", "<image name=");
    if (found.size() > 1) found.resize(1);
    if (const auto dicom = std::ranges::find_if(files, is_iba_dicom); dicom != files.end()) found.push_back(*dicom);
    return found;
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    if (is_dicom_name(file)) return read_iba_dicom(file);
    ImportedScan scan;
    scan.scanner = "IBA iMagX";
    scan.header = file;
    std::vector<fs::path> images = files_with(file.parent_path(), "<image name=");
    if (images.empty())
      throw Error(ErrorKind::input, {.what = "there are no projections",
                                     .where = file.parent_path().string(),
                                     .why = "no XML file has <image name=",
                                     .hint = "give the folder of the projections"});
    if (images.size() > 1) images = one_series(images, file);
    HeaderFields header = read_attributes(images.front());
    const IbaImage first = read_image(header);
    std::vector<fs::path> pixels;
    for (const fs::path& one : images) {
      HeaderFields other = read_attributes(one);
      if (!(read_image(other) == first))
        other.fail("size/x", "a projection differs from the first one", images.front().filename().string(),
                   "are two scans mixed?");
      pixels.push_back(beside(one, other.text("image/rawFile", "frames.files").value_or("")));
    }
    (void)header.text("image/rawFile", "frames.files");
    set_frames(first, pixels, scan);
    set_geometry(first, scan);
    scan.fields = header.fields();
    set_distances(scan);
    return scan;
  }

private:
  static std::vector<fs::path> files_with(const fs::path& folder, std::string_view text) {
    return headers_with(entries_of(folder), ".xml", text);
  }

  static std::vector<fs::path> one_series(const std::vector<fs::path>& images, const fs::path& header) {
    const auto series = named_series(images);
    if (series.size() != 1 || series[0].files.size() != images.size())
      throw Error(ErrorKind::input,
                  {.what = "the projections are not one series",
                   .where = header.parent_path().string(),
                   .why = format("{} files are images, their names do not differ in a number alone", images.size()),
                   .hint = "leave only the projections of one scan in the folder"});
    return whole_series(
        series[0].files,
        {static_cast<std::int64_t>(images.size()), "as many as there are", header.parent_path().string()}, header);
  }

  static void set_frames(const IbaImage& image, const std::vector<fs::path>& files, ImportedScan& scan) {
    scan.text.set_files("frames.files", files, "rawFile of each projection");
    scan.text.set("frames.views", static_cast<std::int64_t>(files.size()), "as many as there are");
    scan.text.set("frames.raw.columns", image.columns, "size x");
    scan.text.set("frames.raw.rows", image.rows, "size y");
    scan.text.set("frames.raw.type", std::string(name_of(image.type)), "pixelFormat");
    scan.text.set("frames.raw.byte_order", std::string(image.big_endian ? "big" : "little"), "byteOrder");
    if (image.type == PixelType::f32) {
      scan.text.set("frames.content", std::string("line-integrals"), "real numbers");
      return;
    }
    const RawLayout layout{image.columns, image.rows, 1, image.type, 0, image.big_endian};
    take_open_beam_from_view({.files = {files.front()}, .dataset = {}, .raw = layout}, scan);
  }

  static void set_geometry(const IbaImage& image, ImportedScan& scan) {
    ScanFileText& text = scan.text;
    text.set("geometry.columns", image.columns, "size x");
    text.set("geometry.rows", image.rows, "size y");
    text.set("geometry.pixel_width_mm", image.width_mm, "spacing x");
    text.set("geometry.pixel_height_mm", image.height_mm, "spacing y");
    text.set("geometry.mirror_rows", true, "rows grow upwards, as RTK reads them");
    if (image.placed) {
      const auto middle = [](double first, std::int64_t count, double step) {
        return first + 0.5 * static_cast<double>(count - 1) * step;
      };
      text.set("geometry.detector_shift_u_mm", middle(image.first_pixel_mm[0], image.columns, image.width_mm),
               "matrixTransform, where the first pixel is");
      text.set("geometry.detector_shift_v_mm", 0 - middle(image.first_pixel_mm[1], image.rows, image.height_mm),
               "matrixTransform, where the first pixel is");
    } else {
      scan.warnings.emplace_back("the images do not say where they lie on the detector: they are taken as centred");
    }
    text.set("geometry.arc_deg", 360.0, "not in the files: a full turn in equal steps");
    scan.warnings.emplace_back(
        "the images do not say their angles, which IBA keeps in DICOM objects: equal steps over a full turn are taken; "
        "give --arc, or geometry.angles_deg in the scan file");
    scan.warnings.emplace_back(
        "the flexion of the gantry depends on the angles and is not taken: import the DICOM projections where it "
        "matters");
  }

  // The room setup: an element of the axis CBCT whose child has sid and sdd, as RTK's reader wants them.
  static void set_distances(ImportedScan& scan) {
    if (const auto text =
            only_text_with(iba_texts_in(scan.header.parent_path()), {"\"CBCT\"", "sid", "sdd"}, "room setup")) {
      HeaderFields header = iba_attributes(*text);
      const IbaRoom room = read_iba_room(header);
      scan.text.set("geometry.source_axis_mm", room.source_axis_mm, format("sid in {}", text->name));
      scan.text.set("geometry.source_detector_mm", room.source_detector_mm, format("sdd in {}", text->name));
      for (HeaderField field : header.fields()) {
        field.name = format("{}/{}", text->name, field.name);
        field.use = field.use == "geometry.angles_deg" ? "" : field.use;
        scan.fields.push_back(std::move(field));
      }
      return;
    }
    scan.warnings.emplace_back(
        "no room setup with sid and sdd lies beside the images: give --source-axis and --source-detector");
  }
};

}  // namespace

const Scanner& iba_scanner() {
  static const Iba iba;
  return iba;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Precision X-Ray X-RAD: NAME.header with the geometry of every projection, NAME.img with their pixels one after
// another, flat and dark beside them. The geometry is read where it is (geometry/xrad.cpp). docs/scanners/xrad.md.
#include "core/format.h"
#include "import/open_beam.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view size_prefix = "CBCT.DimensionalAttributes.";

// What a header says of its pixels; those of the flat and of the dark must agree with those of the scan.
struct XradPixels {
  std::int64_t columns = 0, rows = 0;
  PixelType type = PixelType::u16;
  friend bool operator==(const XradPixels&, const XradPixels&) = default;
};

std::string size_field(const HeaderFields& header, std::string_view name) {
  return header.path_of(format("{}{}", size_prefix, name));
}

XradPixels read_pixels(HeaderFields& header) {
  XradPixels pixels;
  pixels.columns = header.require_count(size_field(header, "IDim"), "geometry.columns");
  pixels.rows = header.require_count(size_field(header, "JDim"), "geometry.rows");
  const std::string type = size_field(header, "DataSize");
  const std::int64_t code = header.require_count(type, "frames.raw.type");
  if (code != 3 && code != 6)
    header.fail(type, "this type of pixel is not known", format("DataSize is {}", code),
                "3 (float) and 6 (16 bits) are read; tell us of others");
  pixels.type = code == 3 ? PixelType::f32 : PixelType::u16;
  return pixels;
}

fs::path pixel_file(const fs::path& header) { return fs::path(header).replace_extension(".img"); }

bool is_reference(const fs::path& header) {
  const std::string stem = lower_case(header.stem().string());
  return stem == "flat" || stem == "dark";
}

class Xrad final : public Scanner {
public:
  std::string_view name() const override { return "xrad"; }
  std::string_view title() const override { return "Precision X-Ray X-RAD (.header)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    auto found = headers_with(files, ".header", size_prefix);
    std::erase_if(found, is_reference);
    return found;
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    HeaderFields header = read_ini_header(file);
    ImportedScan scan;
    scan.scanner = "Precision X-Ray X-RAD";
    scan.header = file;
    const XradPixels pixels = read_pixels(header);
    const std::int64_t views = header.require_count(size_field(header, "KDim"), "frames.views");
    set_frames(header, pixels, views, scan);
    if (pixels.type == PixelType::f32)
      scan.text.set("frames.content", std::string("line-integrals"), "DataSize 3: real numbers need no flat");
    else
      set_open_beam(pixels, views, scan);
    scan.text.set_files("geometry.import_file", {file}, "focus and detector of every projection");
    scan.text.set("geometry.import_format", std::string("xrad"), "its fields");
    scan.text.set("geometry.columns", pixels.columns, "IDim");
    scan.text.set("geometry.rows", pixels.rows, "JDim");
    scan.fields = header.fields();
    for (HeaderField& field : scan.fields)
      if (field.name.find("CBCT.ProjectionGeometryArray.") != std::string::npos ||
          field.name.find("PixelDimension_I_cm") != std::string::npos ||
          field.name.find("PixelDimension_J_cm") != std::string::npos)
        field.use = "geometry.import_file";
    return scan;
  }

private:
  static void set_frames(const HeaderFields& header, const XradPixels& pixels, std::int64_t views, ImportedScan& scan) {
    const fs::path images = pixel_file(header.file());
    std::error_code code;
    const auto bytes = static_cast<std::int64_t>(fs::file_size(images, code));
    const auto wanted = checked_product(pixels.columns, pixels.rows, views, bytes_per_pixel(pixels.type));
    if (code || !wanted || bytes != *wanted)
      header.fail(size_field(header, "KDim"),
                  code ? "the projections are not there" : "the projections have another size",
                  format("the header says {} projections of {} for {}; {}", views,
                         describe(pixels.columns, pixels.rows, pixels.type), images.filename().string(),
                         code ? std::string("there is no such file") : format("it has {} bytes", bytes)),
                  "copy the file again");
    scan.text.set_files("frames.files", {images}, "named as the header");
    scan.text.set("frames.views", views, "KDim");
    scan.text.set("frames.raw.columns", pixels.columns, "IDim");
    scan.text.set("frames.raw.rows", pixels.rows, "JDim");
    scan.text.set("frames.raw.frames_per_file", views, "KDim");
    scan.text.set("frames.raw.type", std::string(name_of(pixels.type)), "DataSize");
  }

  static void set_open_beam(const XradPixels& pixels, std::int64_t views, ImportedScan& scan) {
    for (const auto& [name, key] : {std::pair{"flat", "frames.flats"}, std::pair{"dark", "frames.darks"}}) {
      const fs::path file = scan.header.parent_path() / format("{}.header", name);
      std::error_code code;
      if (!fs::exists(file, code)) continue;
      HeaderFields header = read_ini_header(file);
      if (!(read_pixels(header) == pixels))
        header.fail(size_field(header, "IDim"), format("the {} has other pixels than the projections", name),
                    format("they have {} x {} pixels of type {}", pixels.columns, pixels.rows, name_of(pixels.type)),
                    "put the one of this scan beside it");
      scan.text.set_files(key, {pixel_file(file)}, format("{}.header", name));
    }
    if (scan.text.has("frames.flats")) return;
    const RawLayout layout{pixels.columns, pixels.rows, views, pixels.type};
    take_open_beam_from_view({.files = {pixel_file(scan.header)}, .dataset = {}, .raw = layout}, scan);
  }
};

}  // namespace

const Scanner& xrad_scanner() {
  static const Xrad xrad;
  return xrad;
}

}  // namespace lepus

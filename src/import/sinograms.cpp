// SPDX-License-Identifier: Apache-2.0
// Sinogram files in lepus' own layout (docs/formats.md): one detector row over all views each, numbers between "name
// value" lines. Other layouts are described in the scan file, [frames.sinogram].
#include <algorithm>

#include "core/format.h"
#include "import/frame_series.h"
#include "import/open_beam.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/labelled_image.h"
#include "io/pixels.h"
#include "io/sinogram_example.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

template <class List>
std::vector<std::string> strings(const List& list) {
  return {list.begin(), list.end()};
}

LabelledLayout example_layout() {
  LabelledLayout layout;
  for (const char* words : sinogram_example::header) layout.header.push_back(parse_label_rule(words));
  for (const char* words : sinogram_example::tail) layout.tail.push_back(parse_label_rule(words));
  layout.header_end = sinogram_example::header_end;
  layout.number_from = "row";
  return layout;
}

// The first file of each series that holds views: its header stands for the scan.
std::vector<fs::path> first_files(const std::vector<fs::path>& files) {
  std::vector<fs::path> marked, first;
  for (const fs::path& file : headers_with(files, ".sin", std::string(sinogram_example::mark) + " "))
    if (begins_with_text(file, "\nimages views")) marked.push_back(file);
  for (const NamedSeries& series : named_series(marked)) first.push_back(series.files.front().file);
  return first;
}

class Sinograms final : public Scanner {
public:
  std::string_view name() const override { return "sinograms"; }
  std::string_view title() const override { return "sinogram files in lepus' layout (.sin)"; }
  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override { return first_files(files); }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override {
    ImportedScan scan;
    scan.scanner = "Sinogram files";
    scan.header = file;
    HeaderFields header = fields_of(file);
    const LabelledLayout layout = set_layout(header, scan);
    scan.text.set("frames.views", header.require_count("views", "frames.views"), "views");
    set_files(header, layout, scan);
    set_geometry(header, scan);
    scan.fields = header.fields();
    return scan;
  }

private:
  // The sizes of the pixels are in the header itself, so that it is read as a text first.
  static HeaderFields fields_of(const fs::path& file) {
    LabelledLayout layout = example_layout();
    const std::string head = InputFile(file).head(1 << 16);
    layout.text_pixels = head.find("\npixels text") != std::string::npos;
    for (const PixelType type : {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16, PixelType::u32,
                                 PixelType::i32, PixelType::f32, PixelType::f64})
      if (head.find(format("\ntype {}\n", name_of(type))) != std::string::npos) layout.type = type;
    const LabelledImage image = read_labelled_image(file, layout);
    HeaderFields header(file);
    for (const Label& label : image.header) header.add(label.name, label.value, label.line);
    for (const Label& label : image.tail) header.add(label.name, label.value, 0);
    return header;
  }

  static LabelledLayout set_layout(HeaderFields& header, ImportedScan& scan) {
    ScanFileText& text = scan.text;
    LabelledLayout layout = example_layout();
    if (const auto version = header.count(sinogram_example::mark, "frames.sinogram.header"); version != 1)
      header.fail(sinogram_example::mark, "this version of the layout is not known", format("it is {}", *version),
                  "describe the files in a scan file: docs/scan-file.md, [frames.sinogram]");
    const std::string pixels = header.text("pixels", "frames.sinogram.pixels").value_or("");
    const auto type = pixel_type_named(header.text("type", "frames.sinogram.type").value_or(""));
    if ((pixels != "text" && pixels != "binary") || !type || *type == PixelType::f16)
      header.fail("type", "the pixels are not known", format("pixels is {}", pixels),
                  "pixels is text or binary, type one of uint8 ... float64");
    layout.text_pixels = pixels == "text";
    layout.type = *type;
    text.set("frames.sinogram.header", strings(sinogram_example::header), "lepus' own layout");
    text.set("frames.sinogram.tail", strings(sinogram_example::tail), "lepus' own layout");
    text.set("frames.sinogram.header_end", std::string(sinogram_example::header_end), "lepus' own layout");
    text.set("frames.sinogram.number_from", layout.number_from, "the number of the detector row");
    text.set("frames.sinogram.pixels", pixels, "pixels");
    text.set("frames.sinogram.type", std::string(name_of(*type)), "type");
    return layout;
  }

  static std::vector<fs::path> series_of(const HeaderFields& header, const std::string& prefix, std::int64_t rows) {
    const ExpectedFrames expected{rows, "rows", header.where("rows")};
    const fs::path folder = header.file().parent_path();
    return whole_series(numbered_files(folder, prefix, {".sin"}), expected, folder / (prefix + "0000.sin"));
  }

  static void set_files(HeaderFields& header, const LabelledLayout& layout, ImportedScan& scan) {
    const std::int64_t rows = header.require_count("rows", "geometry.rows");
    const std::string stem = header.file().stem().string();
    const std::string prefix = stem.substr(0, stem.find_last_not_of("0123456789") + 1);
    const auto files = series_of(header, prefix, rows);
    scan.text.set_files("frames.files", files, "one detector row each");
    scan.text.set("geometry.rows", rows, "rows");
    scan.text.set("geometry.columns", header.require_count("columns", "geometry.columns"), "columns");
    const std::string content = header.text("content", "frames.content").value_or("counts");
    if (content != "counts" && content != "line-integrals")
      header.fail("content", "the content is not known", format("it is \"{}\"", content), "counts or line-integrals");
    scan.text.set("frames.content", content, "content");
    if (content == "line-integrals") return;
    for (const auto& [set, key] : {std::pair{"flat_", "frames.flats"}, std::pair{"dark_", "frames.darks"}})
      if (!numbered_files(header.file().parent_path(), set, {".sin"}).empty())
        scan.text.set_files(key, series_of(header, set, rows), format("{}*.sin beside them", set));
    if (scan.text.has("frames.flats")) return;
    FrameFiles frames{.files = files, .dataset = {}, .raw = {}, .order = FrameOrder::sinograms};
    frames.labelled = layout;
    take_open_beam_from_view(frames, scan);
  }

  static void set_geometry(HeaderFields& header, ImportedScan& scan) {
    const auto text = [&](const char* name) {
      const std::string key = format("geometry.{}", name);
      if (const auto value = header.text(name, key)) scan.text.set(key, *value, name);
    };
    const auto number = [&](const char* name) {
      const std::string key = format("geometry.{}", name);
      if (const auto value = header.number(name, key)) scan.text.set(key, *value, name);
    };
    text("beam");
    text("direction");
    for (const char* name : {"source_axis_mm", "source_detector_mm", "axis_offset_mm", "detector_shift_u_mm",
                             "detector_shift_v_mm", "in_plane_deg", "pixel_height_mm"})
      number(name);
    scan.text.set("geometry.pixel_width_mm", header.require_length("pixel_width_mm", "geometry.pixel_width_mm"),
                  "pixel_width_mm");
    scan.text.set("geometry.angle_step_deg", header.require_length("angle_step_deg", "geometry.angle_step_deg"),
                  "angle_step_deg");
    const bool clockwise = header.text("direction", "geometry.direction").value_or("") == "clockwise";
    const double first_deg = header.number("first_angle_deg", "geometry.first_angle_deg").value_or(0);
    // The scan file counts the first angle in the direction of the scan.
    scan.text.set("geometry.first_angle_deg", clockwise ? 0 - first_deg : first_deg,
                  clockwise ? "-first_angle_deg, counted clockwise" : "first_angle_deg");
  }
};

}  // namespace

const Scanner& sinograms_scanner() {
  static const Sinograms sinograms;
  return sinograms;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// RTK: its geometry as XML, and one MetaImage or NRRD file whose third axis counts the projections. The geometry is
// read where it is; the file's spacing and offset are the pixel's size and place. docs/scanners/rtk.md.
#include <algorithm>
#include <cmath>

#include "core/folder.h"
#include "core/format.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/volume_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

class Rtk final : public Scanner {
public:
  std::string_view name() const override { return "rtk"; }
  std::string_view title() const override { return "RTK (geometry as XML, projections as MetaImage or NRRD)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    return headers_with(files, ".xml", "<RTKThreeDCircularGeometry");
  }

  ImportedScan read(const fs::path& file, const GivenNumbers& given) const override {
    HeaderFields header = read_xml_header(file);
    ImportedScan scan;
    scan.scanner = "RTK";
    scan.header = file;
    scan.fields = header.fields();
    const auto views =
        std::ranges::count_if(scan.fields, [](const HeaderField& f) { return f.name == "Projection/Matrix"; });
    if (views == 0)
      header.fail("Projection/Matrix", "the geometry has no projections", "there is no <Matrix> in it",
                  "write it again with RTK");
    for (HeaderField& field : scan.fields) field.use = "geometry.import_file";
    const fs::path projections = find_projections(file.parent_path(), views, header, scan.warnings);
    const auto stack = open_volume(projections);
    const VolumeGrid& grid = stack->grid();
    scan.fields.push_back({"projections", projections.filename().string(), "frames.files"});
    scan.fields.push_back(
        {"spacing", format("{} {} {}", grid.step_mm.x, grid.step_mm.y, grid.step_mm.z), "geometry.pixel_width_mm"});
    scan.fields.push_back({"offset", format("{} {} {}", grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z),
                           "geometry.import_first_pixel_mm"});
    if (!(grid.step_mm.x > 0 && grid.step_mm.y > 0))
      header.fail(
          "projections", "the projections are mirrored",
          format("the spacing of {} is {} x {} mm", projections.filename().string(), grid.step_mm.x, grid.step_mm.y),
          "write them with positive spacing");

    ScanFileText& text = scan.text;
    text.set_files("frames.files", {projections}, "the stack with as many images as the geometry has projections");
    text.set("frames.views", static_cast<std::int64_t>(views), "the projections in the geometry");
    const bool real = stack->pixel_type() == "float32" || stack->pixel_type() == "float64";
    text.set("frames.content", std::string(real ? "line-integrals" : "counts"),
             real ? "real numbers, as RTK writes line integrals" : "whole numbers");
    if (!real) {
      text.set("intensity.from", std::string("value"), "RTK's default for counts");
      text.set("intensity.value", 65536.0, "RTK's default for counts");
      scan.warnings.emplace_back(
          "I0 of the counts is not in the files: 65536 is taken, as RTK does; give intensity.value");
    }
    text.set_files("geometry.import_file", {file}, "RTK's geometry");
    text.set("geometry.import_format", std::string("rtk"), "its root element");
    text.set("geometry.pixel_width_mm", grid.step_mm.x, "spacing of the projections");
    text.set("geometry.pixel_height_mm", grid.step_mm.y, "spacing of the projections");
    // Where the pixel is another one, the middle of the detector stays.
    const auto first_mm = [&](double origin_mm, std::int64_t pixels, double step_mm) {
      return given.pixel_mm ? origin_mm + static_cast<double>(pixels - 1) / 2 * (step_mm - *given.pixel_mm) : origin_mm;
    };
    text.set("geometry.import_first_pixel_mm",
             std::vector<double>{first_mm(grid.origin_mm.x, grid.nx, grid.step_mm.x),
                                 first_mm(grid.origin_mm.y, grid.ny, grid.step_mm.y)},
             "offset of the projections");
    text.set("geometry.import_first_row", std::string("bottom"), "RTK's rows grow upwards");
    return scan;
  }

private:
  static fs::path find_projections(const fs::path& folder, std::int64_t views, const HeaderFields& header,
                                   std::vector<std::string>& warnings) {
    std::vector<fs::path> stacks, fitting;
    std::string sizes;
    for (const fs::path& file : entries_of(folder))
      if (const FileKind kind = kind_of_name(file); kind == FileKind::meta_image || kind == FileKind::nrrd)
        stacks.push_back(file);
    for (const fs::path& stack : stacks) {
      sizes += sizes.empty() ? "" : ", ";
      try {
        const std::int64_t images = open_volume(stack)->grid().nz;
        if (images == views) fitting.push_back(stack);
        sizes += format("{} has {} images", stack.filename().string(), images);
      } catch (const Error& error) {
        sizes += format("{} cannot be read ({})", stack.filename().string(), error.parts().what);
        warnings.push_back(
            format("{} cannot be read and is left out: {}", stack.filename().string(), error.parts().what));
      }
    }
    if (fitting.size() == 1) return fitting.front();
    header.fail("Projection/Matrix",
                fitting.empty() ? "no stack has as many images as the geometry has projections"
                                : "several stacks have as many images as the geometry has projections",
                format("the geometry has {} projections; {}", views,
                       sizes.empty() ? "there is no .mha, .mhd or .nrrd beside it" : sizes),
                "leave only the projections of this scan beside the geometry");
  }
};

}  // namespace

const Scanner& rtk_scanner() {
  static const Rtk rtk;
  return rtk;
}

}  // namespace lepus

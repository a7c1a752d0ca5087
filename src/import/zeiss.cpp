// SPDX-License-Identifier: Apache-2.0
// Zeiss (Xradia) microscopes: one .txrm holds the views, the flats and everything else. docs/scanners/zeiss.md says
// where the signs come from.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/format.h"
#include "import/open_beam.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/zeiss_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

// What becomes of which stream, for those who ask.
const std::map<std::string_view, std::string_view>& zeiss_uses() {
  static const std::map<std::string_view, std::string_view> uses{
      {"ImageInfo/NoOfImages", "frames.views"},
      {"ImageInfo/ImagesTaken", "frames.views"},
      {"ImageInfo/ImageWidth", "frames.files"},
      {"ImageInfo/ImageHeight", "frames.files"},
      {"ImageInfo/DataType", "frames.files"},
      {"ImageInfo/Angles", "geometry.angles_deg"},
      {"ImageInfo/PixelSize", "geometry.pixel_width_mm"},
      {"ImageInfo/StoRADistance", "geometry.source_axis_mm"},
      {"ImageInfo/DtoRADistance", "geometry.source_detector_mm"},
      {"ImageInfo/XrayGeometry", "geometry.beam"},
      {"Alignment/X-Shifts", "geometry.view_shifts_u_mm"},
      {"Alignment/Y-Shifts", "geometry.view_shifts_v_mm"},
      {"AutoRecon/CenterShift", "geometry.detector_shift_u_mm"},
      {"ReconSettings/CenterShift", "geometry.detector_shift_u_mm"},
      {"ReferenceData/DataType", "frames.flats"},
      {"ReferenceData/ExpTime", "compared with ImageInfo/ExpTimes"},
      {"ImageInfo/ExpTimes", "compared with ReferenceData/ExpTime"},
      {"MultiReferenceData/DataType", "frames.flats"}};
  return uses;
}

class ZeissHeader {
public:
  ZeissHeader(const fs::path& path, const GivenNumbers& given) : file_(path), given_(given) {
    scan_.scanner = "Zeiss Xradia";
    scan_.header = path;
  }

  ImportedScan imported() {
    read_frames();
    read_geometry();
    read_shifts();
    for (const OleStream& stream : file_.ole().streams()) {
      const bool image = stream.name.find("/Image") != std::string::npos && stream.name.find("Data") < 16 &&
                         !stream.name.starts_with("ImageInfo");
      if (image && stream.bytes > 4096) continue;
      const auto use = zeiss_uses().find(stream.name);
      scan_.fields.push_back({stream.name, file_.shown_value(stream),
                              use == zeiss_uses().end() ? std::string() : std::string(use->second)});
    }
    return std::move(scan_);
  }

private:
  [[noreturn]] void fail(std::string what, std::string why, std::string hint) const {
    throw Error(
        ErrorKind::input,
        {.what = std::move(what), .where = scan_.header.string(), .why = std::move(why), .hint = std::move(hint)});
  }

  void read_frames() {
    const ZeissImages images = file_.images("ImageData");
    views_ = images.streams.size();
    const auto planned = file_.integer("ImageInfo/NoOfImages"), taken = file_.integer("ImageInfo/ImagesTaken");
    const auto found = static_cast<std::int64_t>(views_);
    if (planned && *planned != found) {
      if (found > *planned || taken.value_or(*planned) != found)
        fail("the images are not as many as the header says",
             format("ImageInfo/NoOfImages is {}, there are {} images", *planned, found), "copy the file again");
      scan_.warnings.push_back(format("the scan stopped after {} of {} images", found, *planned));
    }
    if (views_ == 1) scan_.warnings.emplace_back("the file holds a single image, which is no scan");
    scan_.text.set_files("frames.files", {scan_.header}, "ImageData");
    scan_.text.set("frames.views", found, planned == found ? "ImageInfo/NoOfImages" : "ImageInfo/ImagesTaken");
    const ZeissImages flats = file_.images("ReferenceData");
    if (!flats.streams.empty()) {
      scan_.text.set_files("frames.flats", {scan_.header},
                           flats.streams.size() == 1 ? "ReferenceData" : "MultiReferenceData");
      const auto exposure = file_.number("ImageInfo/ExpTimes"), reference = file_.number("ReferenceData/ExpTime");
      if (exposure && reference && *exposure > 0 && *reference > 0 && std::abs(*exposure / *reference - 1) > 0.01)
        scan_.warnings.push_back(format(
            "views were exposed for {:g} s, the flats for {:g} s: say frames.flats_scale where the counts follow",
            *exposure, *reference));
      return;
    }
    take_open_beam_from_view({.files = {scan_.header}, .dataset = "ImageData", .raw = {}}, scan_);
  }

  // The value of all views; a warning where it changes on the way.
  double steady(const std::string& stream) {
    std::vector<double> all = file_.floats(stream);
    if (all.empty()) fail(format("{} is missing", stream), "", "copy the file again");
    all.resize(std::min(all.size(), views_));
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    if (!(std::abs(*high - *low) <= 1e-5 * std::abs(*high)))
      scan_.warnings.push_back(
          format("{} changes from {:g} to {:g}; that of the first view is taken", stream, *low, *high));
    return std::abs(all.front());  // the source's side of the axis is negative on some instruments
  }

  void read_geometry() {
    ScanFileText& text = scan_.text;
    const double pixel_um = file_.number("ImageInfo/PixelSize").value_or(0);
    if (!(pixel_um > 0) && !given_.pixel_mm)
      fail("ImageInfo/PixelSize is missing or not above zero", "", "copy the file again");
    const auto beam = file_.integer("ImageInfo/XrayGeometry");
    const bool cone = !given_.parallel && beam.value_or(1) == 1;
    if (!beam && cone)
      scan_.warnings.emplace_back("the file does not say ImageInfo/XrayGeometry: a cone beam is taken");
    text.set("geometry.beam", std::string(cone ? "cone" : "parallel"),
             beam ? format("ImageInfo/XrayGeometry is {}", *beam) : "not in the file");
    double magnification = 1;
    if (cone) {
      const bool all_given = given_.source_axis_mm && given_.source_detector_mm;
      const double source = all_given ? 0 : steady("ImageInfo/StoRADistance");
      const double behind = given_.source_detector_mm ? 0 : steady("ImageInfo/DtoRADistance");
      const double axis = given_.source_axis_mm.value_or(source);
      const double detector = given_.source_detector_mm.value_or(source + behind);
      if (!(axis > 0)) fail("ImageInfo/StoRADistance is zero", "", "give --source-axis");
      magnification = detector / axis;
      text.set("geometry.source_axis_mm", axis, "ImageInfo/StoRADistance");
      text.set("geometry.source_detector_mm", detector, "ImageInfo/StoRADistance and ImageInfo/DtoRADistance");
    }
    pixel_mm_ = given_.pixel_mm.value_or(pixel_um / 1000 * magnification);
    text.set("geometry.pixel_width_mm", pixel_mm_,
             cone ? "ImageInfo/PixelSize, which is at the axis, magnified to the detector" : "ImageInfo/PixelSize");

    std::vector<double> angles = file_.floats("ImageInfo/Angles");
    if (angles.size() < views_)
      fail("the angles stop early", format("ImageInfo/Angles has {} numbers for {} images", angles.size(), views_),
           "copy the file again");
    angles.resize(views_);
    if (!std::all_of(angles.begin(), angles.end(), [](double a) { return std::isfinite(a); }))
      fail("ImageInfo/Angles holds numbers that are none", "", "copy the file again");
    text.set("geometry.angles_deg", std::move(angles), "ImageInfo/Angles");
    text.set("geometry.direction", std::string("clockwise"),
             "not in the file: the stage is taken to turn counter-clockwise seen from above");
  }

  void read_shifts() {
    const auto centre = file_.find_number({"AutoRecon/CenterShift", "ReconSettings/CenterShift"});
    if (centre)
      scan_.text.set("geometry.detector_shift_u_mm", centre->second * pixel_mm_, centre->first + " in pixels");
    else
      scan_.warnings.emplace_back(
          "the file does not say where the axis is (CenterShift): the middle column is taken; lepus center finds it");
    for (const auto& [stream, key] : {std::pair{"Alignment/X-Shifts", "geometry.view_shifts_u_mm"},
                                      std::pair{"Alignment/Y-Shifts", "geometry.view_shifts_v_mm"}}) {
      std::vector<double> shifts = file_.floats(stream);
      if (std::all_of(shifts.begin(), shifts.end(), [](double s) { return s == 0; })) continue;
      if (shifts.size() < views_)
        fail("the shifts stop early", format("{} has {} numbers for {} images", stream, shifts.size(), views_),
             "copy the file again");
      shifts.resize(views_);
      for (double& shift : shifts) shift *= pixel_mm_;
      scan_.text.set(key, std::move(shifts), format("{} in pixels", stream));
    }
  }

  ZeissFile file_;
  GivenNumbers given_;
  ImportedScan scan_;
  std::size_t views_ = 0;
  double pixel_mm_ = 0;
};

class Zeiss final : public Scanner {
public:
  std::string_view name() const override { return "zeiss"; }
  std::string_view title() const override { return "Zeiss Xradia (.txrm)"; }

  // In a folder a .txrm stands for the scan; single images beside it are not scans of their own.
  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    std::vector<fs::path> found;
    for (const fs::path& file : files) {
      const std::string ending = lower_extension(file);
      const bool wanted = ending == ".txrm" || (ending == ".xrm" && files.size() == 1);
      if (wanted && kind_of_file(file) == FileKind::zeiss) found.push_back(file);
    }
    return found;
  }

  ImportedScan read(const fs::path& file, const GivenNumbers& given) const override {
    return ZeissHeader(file, given).imported();
  }
};

}  // namespace

const Scanner& zeiss_scanner() {
  static const Zeiss zeiss;
  return zeiss;
}

}  // namespace lepus

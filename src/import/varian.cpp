// SPDX-License-Identifier: Apache-2.0
// Varian: Scan.xml with Acquisitions/*/Proj_*.xim (TrueBeam, ProBeam), or ProjectionInfo.xml with *.hnd or *.hnc (OBI);
// a folder of .xim files alone, or one of them, says enough itself. docs/scanners/varian.md has the tables.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/format.h"
#include "import/frame_series.h"
#include "import/open_beam.h"
#include "import/scanner.h"
#include "io/file.h"
#include "io/varian_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

bool is_varian_ending(const fs::path& file) {
  const std::string ending = lower_extension(file);
  return ending == ".xim" || ending == ".hnd" || ending == ".hnc";
}

// Others write a scan.xml too.
bool is_varian_xml(const fs::path& file) {
  const std::string name = lower_case(file.filename().string());
  return name == "projectioninfo.xml" || (name == "scan.xml" && begins_with_text(file, "<Acquisitions"));
}

std::vector<fs::path> files_below(const fs::path& folder, int deepest) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code), end;
       !code && entry != end; entry.increment(code)) {
    if (entry.depth() >= deepest) entry.disable_recursion_pending();
    std::error_code ignored;
    if (fs::is_regular_file(entry->path(), ignored)) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// One number of each view, of which most are the same.
struct PerView {
  std::vector<double> values;
  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  double spread() const {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return *high - *low;
  }
};

class VarianHeader {
public:
  explicit VarianHeader(const fs::path& path) {
    scan_.scanner = "Varian";
    scan_.header = path;
    if (is_varian_xml(path)) {
      xml_.emplace(read_xml_header(path));
      top_ = path.parent_path();
    } else {  // Acquisitions/1/Proj_00000.xim below the folder of Scan.xml
      top_ = path.parent_path();
      for (const fs::path& beside : {top_ / "Scan.xml", top_ / "ProjectionInfo.xml", top_ / "../../Scan.xml"})
        if (std::error_code code; !xml_ && fs::exists(beside, code)) {
          xml_.emplace(read_xml_header(beside));
          top_ = beside.parent_path().lexically_normal();
        }
    }
  }

  ImportedScan imported() {
    find_frames();
    read_views();
    set_geometry();
    set_open_beam();
    if (xml_) scan_.fields = xml_->fields();
    for (const VarianField& field : first_.fields)
      scan_.fields.push_back({format("{}/{}", frames_.front().filename().string(), field.name),
                              as_utf8(field.text.substr(0, 400)), use_of(field.name)});
    return std::move(scan_);
  }

private:
  static std::string use_of(const std::string& field) {
    if (field == "KVSourceRtn" || field == "CTProjectionAngle") return "geometry.angles_deg";
    if (field == "KVDetectorLat") return "geometry.detector_shift_u_mm";
    if (field == "KVDetectorLng") return "geometry.detector_shift_v_mm";
    if (field == "PixelWidth" || field == "IDUResolutionX") return "geometry.pixel_width_mm";
    if (field == "PixelHeight" || field == "IDUResolutionY") return "geometry.pixel_height_mm";
    if (field == "KVNormChamber" || field == "CTNormChamber") return "frames.flats_scale";
    if (field == "KVSourceVrt" || field == "KVDetectorVrt") return "geometry.source_detector_mm";
    return {};
  }

  // An element of the XML, wherever it stands.
  std::optional<double> xml_number(std::string_view element, std::string_view use) {
    return xml_ ? xml_->number(xml_->path_of(element), use) : std::nullopt;
  }
  std::string xml_text(std::string_view element) {
    if (xml_)
      for (const HeaderField& field : xml_->fields())
        if (field.name.ends_with(element)) return field.value;
    return {};
  }

  void find_frames() {
    std::vector<fs::path> files;
    if (!is_varian_xml(scan_.header)) {
      for (const fs::path& file : files_below(scan_.header.parent_path(), 0))
        if (lower_extension(file) == lower_extension(scan_.header)) files.push_back(file);
    } else {
      for (const fs::path& file : files_below(top_, 3))
        if (is_varian_ending(file) &&
            lower_case(file.lexically_relative(top_).string()).find("calibrations") == std::string::npos)
          files.push_back(file);
    }
    const auto series = named_series(files);
    if (series.size() == 1 || (series.empty() && files.size() == 1)) {
      frames_ = series.empty() ? files
                               : whole_series(series[0].files,
                                              {static_cast<std::int64_t>(series[0].files.size()),
                                               "as many as there are", scan_.header.string()},
                                              series[0].files.front().file);
    } else if (!is_varian_xml(scan_.header) && std::find(files.begin(), files.end(), scan_.header) != files.end()) {
      frames_ = {scan_.header};  // one image, which was named
    } else {
      std::string names;
      for (const NamedSeries& one : series)
        names += format("{}{} files {}*{}", names.empty() ? "" : ", ", one.files.size(), one.prefix, one.ending);
      throw Error(ErrorKind::input,
                  {.what = series.empty() ? "there are no projections" : "several series of projections",
                   .where = top_.string(),
                   .why = names,
                   .hint = "keep one of them in the folder"});
    }
    std::set<fs::path> folders;
    for (const fs::path& file : frames_) folders.insert(file.parent_path());
    if (folders.size() > 1)
      throw Error(ErrorKind::input, {.what = "several scans are mixed",
                                     .where = top_.string(),
                                     .why = format("projections lie in {} and in {}", folders.begin()->string(),
                                                   std::next(folders.begin())->string()),
                                     .hint = "give the folder of one of them"});
  }

  void read_views() {
    std::vector<fs::path> whole;
    for (const fs::path& file : frames_) {
      VarianImage image = read_varian_image(file);
      if (image.columns == 0) {
        scan_.warnings.push_back(format("{} holds no pixels and is left out", file.filename().string()));
        continue;
      }
      const bool xim = lower_extension(file) == ".xim";
      const auto angle = image.number(xim ? "KVSourceRtn" : "CTProjectionAngle");
      if (!angle || !std::isfinite(*angle))
        throw Error(ErrorKind::input, {.what = "a projection does not say its angle",
                                       .where = file.string(),
                                       .why = format("{} is missing", xim ? "KVSourceRtn" : "CTProjectionAngle"),
                                       .hint = "copy the file again"});
      angles_.push_back(xim ? 180 - *angle : *angle);
      lateral_.values.push_back(xim ? 10 * image.number("KVDetectorLat").value_or(0) : 0);
      longitudinal_.values.push_back(xim ? 10 * image.number("KVDetectorLng").value_or(0) : 0);
      chamber_.values.push_back(image.number(xim ? "KVNormChamber" : "CTNormChamber").value_or(0));
      if (whole.empty()) first_ = std::move(image);
      whole.push_back(file);
    }
    if (whole.empty())
      throw Error(ErrorKind::input, {.what = "no projection holds pixels",
                                     .where = frames_.front().parent_path().string(),
                                     .why = {},
                                     .hint = "copy the files again"});
    frames_ = std::move(whole);
    if (frames_.size() == 1) scan_.warnings.emplace_back("there is a single image, which is no scan");
    scan_.text.set_files("frames.files", frames_, "the projections in this folder");
    scan_.text.set("frames.views", static_cast<std::int64_t>(frames_.size()), "as many as hold pixels");
  }

  void set_geometry() {
    ScanFileText& text = scan_.text;
    const bool xim = lower_extension(frames_.front()) == ".xim";
    auto axis = xml_number(xim ? "SAD" : "CalibratedSAD", "geometry.source_axis_mm");
    auto detector = xml_number(xim ? "SID" : "CalibratedSID", "geometry.source_detector_mm");
    std::string axis_from = xim ? "SAD" : "CalibratedSAD", detector_from = xim ? "SID" : "CalibratedSID";
    if (xim && (!axis || !detector)) {
      const auto source = first_.number("KVSourceVrt"), panel = first_.number("KVDetectorVrt");
      if (source && !axis) axis = 10 * *source, axis_from = "KVSourceVrt in cm";
      if (source && panel && !detector)
        detector = 10 * (*source - *panel), detector_from = "KVSourceVrt and KVDetectorVrt";
    }
    if (!axis || !detector || !(*axis > 0) || !(*detector > *axis))
      throw Error(ErrorKind::input, {.what = "the files do not say where source and detector are",
                                     .where = scan_.header.string(),
                                     .why = format("{} or {} is missing", axis_from, detector_from),
                                     .hint = "put Scan.xml or ProjectionInfo.xml beside the projections"});
    text.set("geometry.source_axis_mm", *axis, axis_from);
    text.set("geometry.source_detector_mm", *detector, detector_from);
    const double unit = xim ? 10 : 1;
    const auto width = first_.number(xim ? "PixelWidth" : "IDUResolutionX");
    const auto height = first_.number(xim ? "PixelHeight" : "IDUResolutionY");
    if (width && *width > 0)
      text.set("geometry.pixel_width_mm", unit * *width, xim ? "PixelWidth in cm" : "IDUResolutionX");
    if (height && *height > 0)
      text.set("geometry.pixel_height_mm", unit * *height, xim ? "PixelHeight in cm" : "IDUResolutionY");
    text.set("geometry.mirror_rows", true, "the first row is the lowest one");
    text.set("geometry.angles_deg", angles_, xim ? "180 - KVSourceRtn" : "CTProjectionAngle");
    if (!xim) {
      const bool half = lower_case(xml_text("FanType")) == "halffan";
      const double x = xml_number("CalibratedDetectorOffsetX", "geometry.detector_shift_u_mm").value_or(0);
      const double panel = xml_number("DetectorPosLat", "geometry.detector_shift_u_mm").value_or(0);
      const double y = xml_number("CalibratedDetectorOffsetY", "geometry.detector_shift_v_mm").value_or(0);
      lateral_.values.assign(frames_.size(), half ? x + panel : x);
      longitudinal_.values.assign(frames_.size(), y);
    }
    set_shift("u", lateral_, 1,
              xim ? "KVDetectorLat in cm" : "CalibratedDetectorOffsetX, and DetectorPosLat of a half fan");
    set_shift("v", longitudinal_, -1, xim ? "KVDetectorLng in cm, upwards" : "CalibratedDetectorOffsetY, upwards");
  }

  void set_shift(const char* direction, const PerView& offsets, double sign, const std::string& from) {
    const double mean = offsets.mean();
    scan_.text.set(format("geometry.detector_shift_{}_mm", direction), sign * mean, from);
    if (offsets.spread() < 1e-4) return;
    std::vector<double> deviations;
    for (const double offset : offsets.values) deviations.push_back(sign * (offset - mean));
    scan_.text.set(format("geometry.view_shifts_{}_mm", direction), std::move(deviations), from + ", of each view");
  }

  // Air scans lie in Calibrations/AIR-Half-Bowtie-125KV/Current/FilterBowtie.xim and the like.
  void set_open_beam() {
    std::vector<fs::path> air;
    const std::string fan = lower_case(xml_text("Fan"));
    for (const fs::path& file : files_below(top_ / "Calibrations", 3)) {
      const std::string path = lower_case(file.lexically_relative(top_).string());
      if (is_varian_ending(file) && path.find("air") != std::string::npos &&
          path.find("filterbowtie") != std::string::npos)
        air.push_back(file);
    }
    if (air.size() > 1 && !fan.empty())
      std::erase_if(air, [&](const fs::path& file) {
        return lower_case(file.string()).find(fan.starts_with("half") ? "half" : "full") == std::string::npos;
      });
    const bool same_size = air.size() == 1 && [&] {
      const VarianImage image = read_varian_image(air.front());
      air_chamber_ = image.number("KVNormChamber").value_or(0);
      return image.columns == first_.columns && image.rows == first_.rows;
    }();
    if (!same_size) {
      if (!air.empty())
        scan_.warnings.push_back(
            format("{} air scans lie in Calibrations, none of which clearly belongs to this scan", air.size()));
      return take_open_beam_from_view({.files = frames_, .dataset = {}, .raw = {}}, scan_);
    }
    scan_.text.set_files("frames.flats", air, "the air scan in Calibrations");
    const double chamber = chamber_.mean();
    if (chamber > 0 && air_chamber_ > 0) {
      scan_.text.set("frames.flats_scale", chamber / air_chamber_,
                     format("KVNormChamber, {:g} in the views and {:g} in the air scan", chamber, air_chamber_));
      if (chamber_.spread() > 0.005 * chamber)
        scan_.warnings.push_back(
            format("the normalisation chamber changes by {:.2g} % from view to view, of which the mean is corrected: "
                   "[[correct]] kind = \"drift\" follows it",
                   100 * chamber_.spread() / chamber));
    } else {
      scan_.warnings.emplace_back(
          "the files do not say what the normalisation chamber counted: flats are taken as they are");
    }
  }

  ImportedScan scan_;
  std::optional<HeaderFields> xml_;
  fs::path top_;  // the folder of the scan
  std::vector<fs::path> frames_;
  VarianImage first_;
  std::vector<double> angles_;
  PerView lateral_, longitudinal_, chamber_;  // mm, mm, counts
  double air_chamber_ = 0;
};

class Varian final : public Scanner {
public:
  std::string_view name() const override { return "varian"; }
  std::string_view title() const override { return "Varian (.xim, .hnd, .hnc)"; }

  std::vector<fs::path> headers(const std::vector<fs::path>& files) const override {
    std::vector<fs::path> found;
    for (const fs::path& file : files)
      if (is_varian_xml(file)) found.push_back(file);
    if (!found.empty()) return found;
    const auto first = std::find_if(files.begin(), files.end(), is_varian_ending);
    if (first != files.end()) found.push_back(*first);
    return found;
  }

  ImportedScan read(const fs::path& file, const GivenNumbers&) const override { return VarianHeader(file).imported(); }
};

}  // namespace

const Scanner& varian_scanner() {
  static const Varian varian;
  return varian;
}

}  // namespace lepus

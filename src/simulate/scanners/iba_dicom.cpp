// SPDX-License-Identifier: Apache-2.0
// IBA's DICOM projections, proj_0000.dcm ...: of iMagX 1.6 with room setup and calibration in each of them, or of
// adaPTinsight 2 with calibration.xml beside them, whose flexmap has a line for each view.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/format.h"
#include "core/output_file.h"
#include "io/dicom_file.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

constexpr const char* rt_image = "1.2.840.10008.5.1.4.1.1.481.1";
constexpr double source_to_nozzle_deg = -90;  // the source is a quarter turn behind the angle that is written
enum : std::int64_t { study_id = 1, series_id, first_view_id = 100 };

void prepare_dicom(SimulationOptions& options) {
  require_scanner_says(options.scan.beam == Beam::cone && !options.scan.arc, "IBA", "a beam that is no cone");
  require_scanner_says(options.helix_pitch_mm == 0, "IBA", "a helix");
  require_scanner_says(options.content == SimulatedContent::counts, "IBA", "frames of line integrals");
  require_scanner_says(!options.scan.mirror_columns && !options.scan.mirror_rows, "IBA", "frames that are mirrored");
  options.scan.mirror_rows = true;
  correct_in_scanner(options);
}

void prepare_model(SimulationOptions& options) {
  require_scanner_says(!options.jitter.known && options.scan.perturbations.empty(), "IBA iMagX 1.6",
                       "deviations of single views");
  prepare_dicom(options);
}

// Tx, Ty, Tz, Px, Py, Pz (mm), Rx, Ry, Rz (degrees): y is up and z towards the source.
std::array<double, 9> deviation_of(const CircularScan& c, const ViewPerturbation& p) {
  return {p.source_mm.x - c.axis_offset_mm,
          0 - p.source_mm.y,
          0 - p.source_mm.z,
          p.detector_mm.x + c.detector_shift_u_mm - c.axis_offset_mm,
          0 - p.detector_mm.y - c.detector_shift_v_mm,
          0 - p.detector_mm.z,
          degrees(p.pitch_rad + c.pitch_rad),
          0 - degrees(p.yaw_rad + c.yaw_rad),
          0 - degrees(p.in_plane_rad + c.in_plane_rad)};
}

constexpr double plus_mm = 100;  // the flexmap counts Px from where the arc's name puts the detector

// At most 16 characters, as decimal strings have.
std::string decimal(double value) { return format("{:.10g}", value); }

struct IbaView {
  double angle_deg = 0;  // within half a turn of 0, as written
  std::array<double, 9> deviation{};
};

std::vector<IbaView> iba_views(const ScannerScan& scan) {
  const CircularScan& c = scan.options.scan;
  std::vector<IbaView> views;
  for (std::size_t i = 0; i < c.angles_rad.size(); ++i) {
    const ViewPerturbation p = scan.known.empty() ? ViewPerturbation{} : scan.known[i];
    const double angle_deg = degrees(c.angles_rad[i] + p.angle_rad) - source_to_nozzle_deg;
    views.push_back({std::remainder(angle_deg, 360), deviation_of(c, p)});
  }
  return views;
}

std::string room_text(const CircularScan& c) {
  return format(
      "<RoomSetup><Axis axis=\"CBCT\"><Distances sid=\"{:.17g}\" sdd=\"{:.17g}\"/><AngleOffset projection=\"{}\"/>"
      "</Axis></RoomSetup>",
      c.source_axis_mm, c.source_detector_mm, source_to_nozzle_deg);
}

// A gantry that does not bend: only the first coefficient of each is not zero.
std::string model_text(const std::array<double, 9>& deviation) {
  const auto triple = [&](const char* element, char letter, std::size_t first) {
    std::string text = format("<{}>", element);
    for (std::size_t i = 0; i < 3; ++i)
      text += format("<{}{} MSE=\"0\" a0=\"{:.17g}\" a1=\"0\" a2=\"0\" a3=\"1\" a4=\"0\"/>", letter, "xyz"[i],
                     deviation[first + i]);
    return text + format("</{}>", element);
  };
  return "<Calibration><Axis axis=\"CBCT\">" + triple("DetectorTranslation", 'P', 3) +
         triple("DetectorRotation", 'R', 6) + triple("SourceTranslation", 'T', 0) + "</Axis></Calibration>";
}

std::string flexmap_text(const CircularScan& c, std::vector<IbaView> views) {
  std::ranges::sort(views, {}, &IbaView::angle_deg);
  std::string text = format(
      "<?xml version=\"1.0\"?>\n<calibration>\n<arc name=\"ARC_MINUS\" geoCalModelUid=\"1\" active=\"false\"/>\n"
      "<arc name=\"ARC_PLUS\" geoCalModelUid=\"2\" active=\"true\"/>\n<FPOffsets xPlus=\"{0:.17g}\" "
      "xMinus=\"-{0:.17g}\"/>\n<gantryParameters sid=\"{1:.17g}\" sad=\"{2:.17g}\" "
      "sourceToNozzleOffsetAngle=\"{3}\"/>\n<geometricalCalibrationModels>\n<geoCalModel uid=\"1\">\n"
      "0,0,0,0,0,0,0,0,0,0\n</geoCalModel>\n<geoCalModel uid=\"2\">\n",
      plus_mm, c.source_detector_mm, c.source_axis_mm, source_to_nozzle_deg);
  for (const IbaView& view : views) {
    text += format("{:.17g}", view.angle_deg);
    for (std::size_t i = 0; i < view.deviation.size(); ++i)
      text += format(",{:.17g}", view.deviation[i] - (i == 3 ? plus_mm : 0));
    text += "\n";
  }
  return text + "</geoCalModel>\n</geometricalCalibrationModels>\n</calibration>\n";
}

class DicomProjections final : public FrameWriter {
public:
  DicomProjections(const ScannerScan& scan, bool flexmap) : scan_(scan), views_(iba_views(scan)), flexmap_(flexmap) {}

  void write(const void* pixels) override {
    const std::int64_t view = written_++;
    const std::int64_t bytes = scan_.columns * scan_.rows * bytes_per_pixel(scan_.type);
    std::string file = start(view, bytes);
    file.append(static_cast<const char*>(pixels), static_cast<std::size_t>(bytes));
    write_file(scan_.folder / format("proj_{:04}.dcm", view), file, false);
  }
  void finish() override {
    if (flexmap_) write_file(scan_.folder / "calibration.xml", flexmap_text(scan_.options.scan, views_), false);
  }

private:
  std::string start(std::int64_t index, std::int64_t pixel_bytes) const {
    const CircularScan& c = scan_.options.scan;
    const IbaView& view = views_[static_cast<std::size_t>(index)];
    const std::string instance = identifier_(first_view_id + index);
    DicomWriter data;
    data.text(0x00080008, "CS", "ORIGINAL\\PRIMARY\\RADIOGRAPH").text(0x00080060, "CS", "RTIMAGE");
    data.text(0x00080016, "UI", rt_image).text(0x00080018, "UI", instance).text(0x00080070, "LO", "IBA");
    data.nobody().text(0x00181020, "LO", flexmap_ ? "adaPTinsight: 2.1" : "IMAGX:1.6");
    data.text(0x0020000D, "UI", identifier_(study_id)).text(0x0020000E, "UI", identifier_(series_id));
    data.text(0x00200011, "IS", "1").text(0x00200013, "IS", std::to_string(index + 1));
    data.number(0x00280002, 1).text(0x00280004, "CS", "MONOCHROME2");
    data.number(0x00280010, static_cast<std::uint16_t>(scan_.rows));
    data.number(0x00280011, static_cast<std::uint16_t>(scan_.columns));
    data.number(0x00280100, 16).number(0x00280101, 16).number(0x00280102, 15).number(0x00280103, 0);
    data.text(0x30020002, "SH", format("{}", index)).text(0x3002000C, "CS", "NORMAL");
    data.text(0x30020011, "DS", decimal(c.pixel_height_mm) + "\\" + decimal(c.pixel_width_mm));
    data.text(0x300A011E, "DS", decimal(view.angle_deg));
    if (!flexmap_) data.text(0x30010012, "UT", room_text(c)).text(0x30010013, "UT", model_text(view.deviation));
    return dicom_start(data, rt_image, instance, pixel_bytes);
  }

  ScannerScan scan_;
  std::vector<IbaView> views_;
  std::int64_t written_ = 0;
  bool flexmap_;
  DicomIdentifiers identifier_;
};

template <bool flexmap>
class IbaDicomFiles final : public ScannerFiles {
public:
  explicit IbaDicomFiles(const ScannerScan& scan) : scan_(scan) {}
  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t) override {
    require_scanner_says(scan_.columns <= 65535 && scan_.rows <= 65535, "IBA", "more than 65535 rows or columns");
    return std::make_unique<DicomProjections>(scan_, flexmap);
  }
  void finish() override {}

private:
  ScannerScan scan_;
};

void prepare_flexmap(SimulationOptions& options) {
  std::vector<double> turns = options.scan.angles_rad;
  for (double& angle : turns) angle = std::remainder(angle, 2 * pi);
  std::ranges::sort(turns);
  const bool twice = std::ranges::adjacent_find(turns, [](double a, double b) { return b - a < 1e-9; }) != turns.end();
  require_scanner_says(!twice, "IBA adaPTinsight", "two views at the same angle");
  prepare_dicom(options);
}

}  // namespace

ScannerWriter iba_dicom_writer() { return {"iba-dicom", prepare_model, make_files<IbaDicomFiles<false>>}; }
ScannerWriter iba_flexmap_writer() { return {"iba-flexmap", prepare_flexmap, make_files<IbaDicomFiles<true>>}; }

}  // namespace lepus

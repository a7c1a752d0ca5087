// SPDX-License-Identifier: Apache-2.0
// NXtomo: scan.nxs with one dataset of flats, darks and views, and an image_key. DXchange: scan.h5 with /exchange.
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "io/stored_values.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void require_hdf5_scan(const SimulationOptions& options, const char* format_name) {
  const CircularScan& scan = options.scan;
  require_circular_orbit(options, format_name);
  require_scanner_says(scan.beam != Beam::fan, format_name, "a fan beam");
  require_scanner_says(scan.pitch_rad == 0 && scan.yaw_rad == 0 && scan.in_plane_rad == 0, format_name,
                       "a tilted detector");
  require_scanner_says(scan.axis_offset_mm == 0 || scan.beam == Beam::parallel, format_name,
                       "an axis that lies beside the central ray");
  require_scanner_says(scan.detector_shift_v_mm == 0, format_name, "a detector that is shifted along the axis");
  require_scanner_says(options.content == SimulatedContent::counts, format_name, "frames of line integrals");
}

// Hands images on to a writer that goes on for the next set.
class Forwarded final : public FrameWriter {
public:
  explicit Forwarded(FrameWriter& to) : to_(to) {}
  void write(const void* pixels) override { to_.write(pixels); }
  void finish() override {}

private:
  FrameWriter& to_;
};

void prepare_nxtomo(SimulationOptions& options) {
  require_hdf5_scan(options, "NXtomo");
  // A beam without a cone sees shift and offset of the axis alike; the header has one word for both.
  if (options.scan.beam == Beam::parallel) {
    options.scan.detector_shift_u_mm -= options.scan.axis_offset_mm;
    options.scan.axis_offset_mm = 0;
  }
}

class NxTomoFiles final : public ScannerFiles {
public:
  explicit NxTomoFiles(const ScannerScan& scan)
      : scan_(scan),
        writer_(create_frames(scan.folder / "scan.nxs",
                              {.columns = scan.columns,
                               .rows = scan.rows,
                               .frames = scan.options.flats + scan.options.darks +
                                         static_cast<std::int64_t>(scan.options.scan.angles_rad.size()),
                               .type = scan.type,
                               .force = false,
                               .dataset = "/entry/instrument/detector/data"})) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    keys_.insert(keys_.end(), static_cast<std::size_t>(frames),
                 set == ImageSet::flats   ? 1.0
                 : set == ImageSet::darks ? 2.0
                                          : 0.0);
    return std::make_unique<Forwarded>(*writer_);
  }

  void finish() override {
    writer_->finish();
    const CircularScan& c = scan_.options.scan;
    const bool cone = c.beam == Beam::cone;
    std::vector<double> angles(keys_.size() - c.angles_rad.size(), 0.0);
    for (const double angle : c.angles_rad) angles.push_back(-degrees(angle));  // of the sample
    const std::string detector = "/entry/instrument/detector/";
    std::vector<ValueToStore> values{
        {"/entry/definition", {}, "NXtomo", ""},
        {detector + "image_key", keys_, "", ""},
        {detector + "x_pixel_size", {c.pixel_width_mm / 1000}, "", "m"},
        {detector + "y_pixel_size", {c.pixel_height_mm / 1000}, "", "m"},
        {detector + "x_rotation_axis_pixel_position",
         {static_cast<double>(scan_.columns - 1) / 2 - c.detector_shift_u_mm / c.pixel_width_mm},
         "",
         "pixel"},
        {"/entry/instrument/source/type", {}, cone ? "Fixed Tube X-ray" : "Synchrotron X-ray Source", ""},
        {"/entry/sample/name", {}, "lepus simulate", ""},
        {"/entry/sample/rotation_angle", angles, "", "degree"}};
    if (cone) {
      values.push_back({"/entry/instrument/source/distance", {-c.source_axis_mm / 1000}, "", "m"});
      values.push_back({detector + "distance", {(c.source_detector_mm - c.source_axis_mm) / 1000}, "", "m"});
    }
    add_stored_values(scan_.folder / "scan.nxs", values);
  }

private:
  ScannerScan scan_;
  std::unique_ptr<FrameWriter> writer_;
  std::vector<double> keys_;
};

void prepare_dxchange(SimulationOptions& options) {
  require_hdf5_scan(options, "DXchange");
  require_scanner_says(options.scan.beam == Beam::parallel, "DXchange", "a beam that is not parallel");
  require_scanner_says(options.scan.pixel_width_mm == options.scan.pixel_height_mm, "DXchange",
                       "pixels that are no squares");
}

class DxChangeFiles final : public ScannerFiles {
public:
  explicit DxChangeFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet set, std::int64_t frames) override {
    if (set != ImageSet::views)
      return std::make_unique<Kept>(*this, set == ImageSet::flats ? "/exchange/data_white" : "/exchange/data_dark");
    return create_frames(scan_.folder / "scan.h5", {.columns = scan_.columns,
                                                    .rows = scan_.rows,
                                                    .frames = frames,
                                                    .type = scan_.type,
                                                    .force = false,
                                                    .dataset = "/exchange/data"});
  }

  void finish() override {
    const CircularScan& c = scan_.options.scan;
    std::vector<double> angles;
    for (const double angle : c.angles_rad) angles.push_back(degrees(angle));
    stills_.push_back({"/implements", {}, "exchange:measurement", ""});
    stills_.push_back({"/exchange/theta", angles, "", "deg"});
    stills_.push_back({"/measurement/instrument/detector/actual_pixel_size_x", {1000 * c.pixel_width_mm}, "", "um"});
    stills_.push_back({"/measurement/sample/name", {}, "lepus simulate", ""});
    add_stored_values(scan_.folder / "scan.h5", stills_);
  }

private:
  // Flats and darks wait until the views are written: a file has them beside those.
  class Kept final : public FrameWriter {
  public:
    Kept(DxChangeFiles& to, std::string path) : to_(to) { images_.path = std::move(path); }
    void write(const void* pixels) override {
      const auto* counts = static_cast<const std::uint16_t*>(pixels);
      images_.pixels.insert(images_.pixels.end(), counts, counts + to_.scan_.columns * to_.scan_.rows);
    }
    void finish() override {
      images_.columns = to_.scan_.columns;
      images_.rows = to_.scan_.rows;
      to_.stills_.push_back(std::move(images_));
    }

  private:
    DxChangeFiles& to_;
    ValueToStore images_;
  };

  ScannerScan scan_;
  std::vector<ValueToStore> stills_;
};

}  // namespace

ScannerWriter nxtomo_writer() {
  return {"nxtomo", prepare_nxtomo,
          [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> { return std::make_unique<NxTomoFiles>(scan); }};
}

ScannerWriter dxchange_writer() {
  return {"dxchange", prepare_dxchange, [](const ScannerScan& scan) -> std::unique_ptr<ScannerFiles> {
            return std::make_unique<DxChangeFiles>(scan);
          }};
}

}  // namespace lepus

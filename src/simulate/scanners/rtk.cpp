// SPDX-License-Identifier: Apache-2.0
// RTK: geometry.xml and projections.mha, float line integrals with the first row at the bottom.
#include "geometry/exchange.h"
#include "io/stack.h"
#include "simulate/scanners/scanner_files.h"

namespace lepus {
namespace {

void prepare_rtk(SimulationOptions& options) {
  require_scanner_says(options.scan.beam != Beam::fan && !options.scan.arc, "RTK", "fans and bent detectors");
  require_scanner_says(!options.jitter.known && options.helix_pitch_mm == 0, "RTK", "deviations of single views");
  require_scanner_says(!options.scan.mirror_columns && !options.scan.mirror_rows, "RTK", "frames that are mirrored");
  options.content = SimulatedContent::line_integrals;
  options.scan.mirror_rows = true;
}

class MetaImageFrames final : public FrameWriter {
public:
  explicit MetaImageFrames(const StackTarget& target) : stack_(create_meta_image(target, 0)) {}
  void write(const void* pixels) override { stack_->write(written_++, 1, pixels); }
  void finish() override { stack_->finish({}); }

private:
  std::unique_ptr<StackWriter> stack_;
  std::int64_t written_ = 0;
};

class RtkFiles final : public ScannerFiles {
public:
  explicit RtkFiles(const ScannerScan& scan) : scan_(scan) {}

  std::unique_ptr<FrameWriter> open(ImageSet, std::int64_t frames) override {
    const CircularScan& c = scan_.options.scan;
    StackTarget target;
    target.path = scan_.folder / "projections.mha";
    target.shape = {.columns = scan_.columns, .rows = scan_.rows, .images = frames, .type = scan_.type};
    VolumeGrid grid = centred_grid(c.columns, c.rows, frames, {c.pixel_width_mm, c.pixel_height_mm, 1});
    grid.origin_mm.z = 0;
    target.text.grid = grid;
    return std::make_unique<MetaImageFrames>(target);
  }

  void finish() override { write_geometry(build_scan(scan_.options.scan), scan_.folder / "geometry.xml", "rtk"); }

private:
  ScannerScan scan_;
};

}  // namespace

ScannerWriter rtk_writer() { return {"rtk", prepare_rtk, make_files<RtkFiles>}; }

}  // namespace lepus

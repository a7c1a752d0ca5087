// SPDX-License-Identifier: Apache-2.0
// The rows of a scan that find_center needs, read from its frames: line integrals, corrected as the scan file says, on
// the flat detector; large detectors are binned first.
#pragma once

#include "align/center.h"
#include "geometry/arc.h"
#include "scan/scan.h"

namespace lepus {

struct CenterRequest {
  AxisSearch options;               // columns and rows are those of the scan's frames
  std::int64_t bands = 5;           // heights on the detector
  std::optional<std::int64_t> row;  // only this row (of the selected ones)
  std::int64_t widest = 768;        // columns above this are binned
  std::int64_t memory_bytes = 0;    // limit; fewer bands are read where they do not fit
};

struct CenterScan {
  CenterInput input;
  std::int64_t binning = 1;   // pixels of the flat detector along a side of one of the input's
  std::optional<ArcMap> arc;  // from the frames to the flat detector, where they were recorded on an arc
  std::vector<std::string> warnings;

  CenterResult in_frames(CenterResult result) const;  // columns and rows of the frames
  PixelPosition in_frames(PixelPosition seen) const;  // of a place in the input
  PixelPosition in_input(PixelPosition frames) const;
};

CenterScan read_center_rows(const Scan& scan, const CenterRequest& request, Context& context);

// The scan's geometry for pixels of binning x binning.
ScanGeometry binned(const ScanGeometry& geometry, std::int64_t binning);

}  // namespace lepus

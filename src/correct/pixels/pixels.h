// SPDX-License-Identifier: Apache-2.0
// Corrections that replace pixels: hot ones that show in the sinogram, zingers, dead ones known from the flats, and a
// map of defects. All work row by row, without a halo (but for whole defective rows of a map), on the host or a device.
// Lengths in pixels of a row; docs/corrections/pixels.md. Makers throw Error(usage) where options and scan do not go
// together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "correct/correction.h"
#include "project/zinger_rules.h"
#include "correct/replaced_share.h"

namespace lepus {

enum class HotMethod { shifted_window, classic };
enum class HotReplacement {
  automatic,  // windows for the classic method and where deviations are not normalised, else bridge
  bridge,     // the line between the nearest good pixels
  windows     // the mean of both windows, or of both neighbours
};

struct HotPixelOptions {
  HotMethod method = HotMethod::shifted_window;
  std::optional<int> window = {}, gap = {};  // none: those of usual_hot_windows(columns)
  double tolerance = 4;                      // standard deviations
  int deviations = 3;                        // 1 or 3
  bool normalise = true, below = false;
  double share_of_views = 0.3;  // of the shifted window, normalised; 0: not asked
  HotReplacement replace_by = HotReplacement::automatic;
  int iterations = 3;
  double maximum_share = usual_maximum_share;
  bool operator==(const HotPixelOptions&) const = default;
};
std::unique_ptr<Correction> make_hot_pixels(const HotPixelOptions& options, const ScanFacts& facts);

struct ZingerOptions {
  double tolerance = 8;  // standard deviations
  int radius_views = 2;  // on each side: 1, 2 or 3
  pixels::ZingerNeighbours neighbours = pixels::ZingerNeighbours::both;
  int along = 3;  // columns in which a detail of the object may move from view to view; 0: not asked
  double maximum_share = usual_maximum_share;
  bool operator==(const ZingerOptions&) const = default;
};
std::unique_ptr<Correction> make_zingers(const ZingerOptions& options, const ScanFacts& facts);

struct DeadPixelOptions {
  double threshold = 0.05;  // of the median flat, for whoever finds the pixels (preprocess/dead_pixels.h)
  double maximum_share = usual_maximum_share;
  bool operator==(const DeadPixelOptions&) const = default;
};
// list: row * columns + column of the selected frames, in any order.
std::unique_ptr<Correction> make_dead_pixels(const DeadPixelOptions& options, const ScanFacts& facts,
                                             std::vector<std::int64_t> list);

// The map speaks of recorded pixels, of which some rows are selected.
struct DefectMapOptions {
  std::filesystem::path file = {};
  std::int64_t columns = 0, rows = 0;        // that were recorded
  std::int64_t first_row = 0, row_step = 1;  // as in FrameSelection
  double maximum_share = usual_maximum_share;
  bool operator==(const DefectMapOptions&) const = default;
};
std::unique_ptr<Correction> make_defect_map(const DefectMapOptions& options, const ScanFacts& facts);

}  // namespace lepus

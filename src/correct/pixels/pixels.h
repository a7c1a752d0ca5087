// SPDX-License-Identifier: Apache-2.0
// Corrections that replace pixels: hot ones that show in the sinogram, zingers, dead ones known from the flats, and a
// map of defects. All work row by row, without a halo (but for whole defective rows of a map), on the host or a device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "correct/correction.h"

namespace lepus {

std::unique_ptr<Correction> make_hot_pixels(const CorrectionSpec& spec, const ScanFacts& facts);
std::unique_ptr<Correction> make_zingers(const CorrectionSpec& spec, const ScanFacts& facts);

// pixels: row * columns + column of the selected frames, in any order.
std::unique_ptr<Correction> make_dead_pixels(const CorrectionSpec& spec, const ScanFacts& facts, std::int64_t columns,
                                             std::vector<std::int64_t> pixels);

// The map's file name is relative to `folder`; it speaks of recorded pixels, of which `selection` takes its rows.
struct RecordedDetector {
  std::filesystem::path folder;
  std::int64_t columns = 0, rows = 0;
  std::int64_t first_row = 0, row_step = 1;  // as in FrameSelection
};
std::unique_ptr<Correction> make_defect_map(const CorrectionSpec& spec, const ScanFacts& facts,
                                            const RecordedDetector& recorded);

}  // namespace lepus

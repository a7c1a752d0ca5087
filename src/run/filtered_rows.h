// SPDX-License-Identifier: Apache-2.0
// Which rows are filtered: those that were recorded, or, of arc detectors and of slanted rows where that matters, rows
// that are interpolated from them.
#pragma once

#include <memory>

#include "preprocess/row_resampler.h"
#include <lepus/geometry.h>

namespace lepus {

struct FilteredRows {
  ScanGeometry geometry;                    // flat detector, level rows
  std::unique_ptr<RowResampler> resampler;  // from recorded rows; null: they are the same
};

FilteredRows filtered_rows(const ScanGeometry& recorded);

}  // namespace lepus

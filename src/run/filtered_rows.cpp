// SPDX-License-Identifier: Apache-2.0
#include "run/filtered_rows.h"

#include <utility>

#include "filter/weights.h"
#include "preprocess/arc_resample.h"
#include "preprocess/level_rows.h"

namespace lepus {

FilteredRows filtered_rows(const ScanGeometry& recorded) {
  const Coverage coverage = FdkWeights(recorded).coverage();
  if (auto leveller = row_leveller(recorded, coverage == Coverage::full || coverage == Coverage::over_full)) {
    ScanGeometry level = leveller->level_scan();
    return {std::move(level), std::make_unique<RowLeveller>(*std::move(leveller))};
  }
  if (recorded.recorded_on_arc) return {recorded, std::make_unique<ArcResampler>(recorded)};
  return {recorded, nullptr};
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Views whose detector is known to stand aside by an amount of their own (view_shifts_u_mm, an arm that sags): their
// columns are moved so that all of them see the axis on one column, as the search for it needs.
#pragma once

#include <optional>
#include <vector>

#include "align/center.h"

namespace lepus {

// By how many columns each view sees the axis beside the mean of all; empty where no view does by a hundredth.
std::vector<double> column_offsets(const ScanGeometry& geometry, std::optional<double> middle_row);

ScanGeometry steadied(ScanGeometry geometry, const std::vector<double>& offsets);
CenterBand steadied(const CenterBand& band, std::int64_t columns, const std::vector<double>& offsets);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Medians of a row of pixels over neighbouring views or along the row, with SIMD.
#pragma once

#include <cstdint>

namespace lepus::pixels {

// out[x] = median of rows[0][x] ... rows[2 radius][x]; radius 1, 2 or 3.
void view_medians(const float* const* rows, int radius, std::int64_t columns, float* out);
// out[x] = median of the 5 pixels around x, shifted inside at the ends; columns >= 5.
void row_medians(const float* w, std::int64_t columns, float* out);

}  // namespace lepus::pixels

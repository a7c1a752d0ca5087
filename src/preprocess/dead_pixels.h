// SPDX-License-Identifier: Apache-2.0
// Dead pixels, known from flats and darks: where the flat is not above the dark, or is below `threshold` times the
// median flat.
#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/normalise.h"

namespace lepus {

// row * columns + column, ascending.
std::vector<std::int64_t> dead_pixels(const Normalisation& normalisation, double threshold);

// Line integrals of rows [row0, row1) of a frame, u fastest, in place: runs of the given pixels are bridged between the
// nearest good pixels of their row. For chains that do nothing else: they stream row by row.
void bridge_along_rows(const std::vector<std::int64_t>& pixels, std::int64_t columns, std::int64_t row0,
                       std::int64_t row1, float* rows);

}  // namespace lepus

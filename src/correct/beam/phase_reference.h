// SPDX-License-Identifier: Apache-2.0
// Paganin's filter by its definition, in plain double precision: the frame goes on mirrored beyond its edges, and every
// cosine it is made of is weakened by 1 / (1 + a_v f_v^2 + a_u f_u^2), f in cycles per pixel. Frames are [row][column].
#pragma once

#include <cstdint>
#include <vector>

namespace lepus {

std::vector<double> paganin_reference(const std::vector<float>& frame, std::int64_t columns, double a_v, double a_u);

}  // namespace lepus

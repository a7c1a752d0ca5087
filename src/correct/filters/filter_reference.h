// SPDX-License-Identifier: Apache-2.0
// The filters in double precision, pixel by pixel from the definition; slow.
#pragma once

#include "project/filter_options.h"

namespace lepus::reference {

void filter(const Planes& in, const Planes& out, const FilterOptions& options);

}  // namespace lepus::reference

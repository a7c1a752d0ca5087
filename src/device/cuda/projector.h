// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/projector.h"
#include "device/row_filter.h"

namespace lepus::cuda {

// Filtered views are texels, slabs lie with x fastest.
std::unique_ptr<Projector> make_projector(int device, Precision precision, const ProjectorSetup& setup);

// Recorded rows on the card to filtered rows in such a store.
std::unique_ptr<lepus::RowFilter> make_row_filter(int device, const lepus::RowFilterSetup& setup);

}  // namespace lepus::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/opencl/context.h"
#include "device/projector.h"
#include "device/row_filter.h"

namespace lepus::opencl {

// Filtered views are images or lie in linear memory, slabs lie with x fastest.
std::unique_ptr<Projector> make_projector(Device& device, Context& context, Precision precision,
                                          const ProjectorSetup& setup);

// Recorded rows on the device to filtered rows in such a store.
std::unique_ptr<lepus::RowFilter> make_row_filter(Device& device, Context& context, const lepus::RowFilterSetup& setup);

}  // namespace lepus::opencl

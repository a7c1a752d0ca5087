// SPDX-License-Identifier: Apache-2.0
// The backend opencl in the shape that the parity harness asks of a backprojector: bands and slabs in host memory.
#pragma once

#include <memory>

#include "device/backend.h"
#include "device/opencl/device.h"

namespace lepus::opencl {

std::unique_ptr<Backprojector> make_backprojector(OpenclDevice& device, const ScanGeometry& geometry,
                                                  const VolumeGrid& grid, Precision precision,
                                                  Interpolation interpolation);

}  // namespace lepus::opencl

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/surface_tracer.h"

namespace lepus::cuda {

std::unique_ptr<SurfaceTracer> make_surface_tracer(int device, const SurfaceTracerSetup& setup);

}  // namespace lepus::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/surface_tracer.h"

namespace lepus::host {

std::unique_ptr<SurfaceTracer> make_surface_tracer(const SurfaceTracerSetup& setup);

}  // namespace lepus::host

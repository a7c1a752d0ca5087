// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include "core/format.h"
#include "device/ray_projector.h"
#include "device/surface_tracer.h"
#include "device/vector_kernels.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void lacks(const Device& device, const char* what) {
  throw Error(ErrorKind::unsupported, {.what = format("{} cannot {}", device.info().name, what),
                                       .where = device.info().kind,
                                       .why = "it has no kernels for it",
                                       .hint = "use the backend cpu"});
}

}  // namespace

std::unique_ptr<RayProjector> Device::make_ray_projector(const RayProjectorSetup&) { lacks(*this, "apply operators"); }

std::unique_ptr<SurfaceTracer> Device::make_surface_tracer(const SurfaceTracerSetup&) { return nullptr; }

VectorKernels& Device::vector_kernels() { lacks(*this, "run iterative methods"); }

}  // namespace lepus

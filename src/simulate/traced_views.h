// SPDX-License-Identifier: Apache-2.0
// Views of a phantom that is made of surfaces, with the rays traced by devices: the host makes rays and averages over
// pixels while they work. The same values as PhantomProjector::project gives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/surface_tracer.h"
#include "simulate/project.h"

namespace lepus {

class TracedViews {
public:
  // Why devices cannot project this phantom, for people; empty where they can try.
  static std::string why_not(const Phantom& phantom);
  // Null where a device traces no rays. Keeps references to both.
  static std::unique_ptr<TracedViews> make(const PhantomProjector& projector, Devices& devices);

  void project(std::int64_t view, float* line_integrals, ThreadPool& threads, const CancelFlag* cancel = nullptr);

private:
  // Some rows of a view on their way.
  struct Part {
    Device* device = nullptr;
    const SurfaceTracer* tracer = nullptr;
    std::int64_t first = 0, last = 0;          // rows; none: it is free
    Block rays, sums, rays_there, sums_there;  // of the host, and in the device's memory
    std::unique_ptr<Event> done;
    std::unique_ptr<Queue> queue;  // waits, as it goes, before its memory does
  };
  TracedViews(const PhantomProjector& projector, std::vector<std::unique_ptr<SurfaceTracer>> tracers, Devices& devices);
  void begin(Part& part, const Camera& camera, ThreadPool& threads);
  void finish(Part& part, float* line_integrals, ThreadPool& threads);

  const PhantomProjector& projector_;
  std::int64_t columns_, rows_, rows_at_once_;
  std::vector<std::unique_ptr<SurfaceTracer>> tracers_;  // of each device
  std::vector<Part> parts_;                              // two of each, in turns
};

}  // namespace lepus

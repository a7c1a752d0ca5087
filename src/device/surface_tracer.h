// SPDX-License-Identifier: Apache-2.0
// Rays through closed surfaces of triangles on a device: lengths inside, each times its surface's factor, summed in
// groups. Double precision, the same operations as the host's.
#pragma once

#include <cstdint>
#include <vector>

#include "project/surface_lengths.h"

namespace lepus {

class Queue;

struct SurfaceTracerSetup {
  std::vector<TracedSurface> surfaces;  // they point to the host's memory, which stays as long as the tracer
  std::int32_t groups = 1;
  bool last_counts = false;  // where surfaces overlap: the last one alone, else each
};

class SurfaceTracer {
public:
  virtual ~SurfaceTracer() = default;
  // sums[ray * groups + group], both in the device's memory; NaN where a ray cannot be traced.
  virtual void trace(const Ray* rays, double* sums, std::int64_t count, Queue& queue) const = 0;
};

}  // namespace lepus

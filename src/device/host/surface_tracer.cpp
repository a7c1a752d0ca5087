// SPDX-License-Identifier: Apache-2.0
// Ray by ray as a GPU's thread does it, but with two crossings at a time: few rays pass two walls, so that tests on the
// host go through all that a GPU does for parts with many.
#include "device/host/surface_tracer.h"

#include <algorithm>
#include <limits>

#include "device/host/device.h"

namespace lepus::host {
namespace {

constexpr int crossings_at_once = 2;

class HostSurfaceTracer final : public SurfaceTracer {
public:
  explicit HostSurfaceTracer(const SurfaceTracerSetup& setup) : setup_(setup) {}
  void trace(const Ray* rays, double* sums, std::int64_t count, Queue& queue) const override {
    const auto surfaces = static_cast<std::int32_t>(setup_.surfaces.size());
    const std::int32_t at_once = setup_.last_counts ? std::max(surfaces, 1) : 1;
    threads_of(queue).parallel_for(0, count, 1024, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        double* const mine = sums + i * setup_.groups;
        std::fill_n(mine, setup_.groups, 0.0);
        for (std::int32_t s = 0; s < surfaces; s += at_once)
          if (!add_lengths<crossings_at_once>(setup_.surfaces.data() + s, at_once, rays[i], mine))
            mine[0] = std::numeric_limits<double>::quiet_NaN();
      }
    });
  }

private:
  SurfaceTracerSetup setup_;
};

}  // namespace

std::unique_ptr<SurfaceTracer> make_surface_tracer(const SurfaceTracerSetup& setup) {
  return std::make_unique<HostSurfaceTracer>(setup);
}

}  // namespace lepus::host

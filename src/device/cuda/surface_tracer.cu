// SPDX-License-Identifier: Apache-2.0
// A thread for each ray: neighbours go through the same boxes and triangles nearly always, so that a warp reads each of
// them once. Compiled without fused multiply-adds: every operation is rounded as the host rounds it, and the host's
// answer is met to the last bit.
#include <algorithm>
#include <vector>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "device/cuda/surface_tracer.h"
#include "device/device.h"

namespace lepus::cuda {
namespace {

constexpr unsigned threads_in_block = 128;
// Most parts are left again after a few walls; each batch more costs another walk through the boxes.
constexpr int crossings_at_once = 16;

__global__ void __launch_bounds__(threads_in_block)
    trace_rays(const TracedSurface* surfaces, std::int32_t surface_count, std::int32_t at_once, std::int32_t groups,
               const Ray* rays, double* sums, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads_in_block + threadIdx.x;
  if (i >= count) return;
  const Ray ray = rays[i];
  double* const mine = sums + i * groups;
  for (std::int32_t g = 0; g < groups; ++g) mine[g] = 0;
  bool traced = true;
  for (std::int32_t s = 0; s < surface_count; s += at_once)
    traced = traced && add_lengths<crossings_at_once>(surfaces + s, at_once, ray, mine);
  if (!traced) mine[0] = std::numeric_limits<double>::quiet_NaN();
}

class CudaSurfaceTracer final : public SurfaceTracer {
public:
  CudaSurfaceTracer(int device, const SurfaceTracerSetup& setup)
      : device_((use_device(device), device)),
        groups_(setup.groups),
        count_(static_cast<std::int32_t>(setup.surfaces.size())),
        at_once_(setup.last_counts ? std::max(count_, 1) : 1) {
    std::vector<TracedSurface> there;
    for (TracedSurface surface : setup.surfaces) {
      nodes_.push_back(on_device(surface.nodes, surface.node_count, "copy surfaces to the device"));
      triangles_.push_back(on_device(surface.triangles, surface.triangle_count, "copy surfaces to the device"));
      clips_.push_back(on_device(surface.clips, surface.clip_count, "copy surfaces to the device"));
      surface.nodes = nodes_.back().data();
      surface.triangles = triangles_.back().data();
      surface.clips = clips_.back().data();
      there.push_back(surface);
    }
    surfaces_ = on_device(there.data(), count_, "copy surfaces to the device");
  }

  void trace(const Ray* rays, double* sums, std::int64_t count, Queue& queue) const override {
    if (count == 0) return;
    use_device(device_);
    const auto blocks = static_cast<unsigned>((count + threads_in_block - 1) / threads_in_block);
    trace_rays<<<blocks, threads_in_block, 0, stream_of(queue)>>>(surfaces_.data(), count_, at_once_, groups_, rays,
                                                                  sums, count);
    check_launch("trace_rays");
  }

private:
  int device_;
  std::int32_t groups_, count_, at_once_;
  std::vector<DeviceBuffer<BoxNode>> nodes_;
  std::vector<DeviceBuffer<SurfaceTriangle>> triangles_;
  std::vector<DeviceBuffer<ClipPlane>> clips_;
  DeviceBuffer<TracedSurface> surfaces_;
};

}  // namespace

std::unique_ptr<SurfaceTracer> make_surface_tracer(int device, const SurfaceTracerSetup& setup) {
  return std::make_unique<CudaSurfaceTracer>(device, setup);
}

}  // namespace lepus::cuda

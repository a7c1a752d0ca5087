// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/forward_project.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "core/format.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/ray_projector_planes.h"

namespace lepus::cuda {
namespace {

constexpr std::int64_t views_at_once = 16;

// Pictures come down while the next are computed.
void project_views(const ForwardJob& job, Device& device, Weights weights, std::atomic<std::int64_t>& next) {
  use_device(device.info().number);
  const auto queue = device.make_queue();
  const std::int64_t voxels = job.slice_voxels() * job.grid.size[2], pixels = job.pixels();
  const SlabRange whole{0, job.grid.size[2]};
  VolumePlanes planes(job.grid, axes_of(job), weights, whole.z1);
  const DeviceBuffer<JosephView> views =
      on_device(job.views.data(), static_cast<std::int64_t>(job.views.size()), "copy views to the device");
  const PlanesOnDevice* volume = nullptr;
  {
    const Block memory = device.allocate(voxels * 4);
    auto* const on_card = reinterpret_cast<float*>(memory.get());
    device.copy(on_card, job.volume, voxels * 4, *queue);
    volume = &planes.fill(on_card, whole, stream_of(*queue));
    queue->wait();
  }
  const std::unique_ptr<Queue> queues[2] = {device.make_queue(), device.make_queue()};
  const Block pictures[2] = {device.allocate(views_at_once * pixels * 4), device.allocate(views_at_once * pixels * 4)};
  const auto count = static_cast<std::int64_t>(job.views.size());
  for (int turn = 0;; turn = 1 - turn) {
    const std::int64_t first = next.fetch_add(views_at_once), here = std::min(views_at_once, count - first);
    if (here <= 0) break;
    auto* const sums = reinterpret_cast<float*>(pictures[turn].get());
    launch_forward({.view = views.data() + first,
                    .views = static_cast<int>(here),
                    .columns = static_cast<int>(job.columns),
                    .first_row = 0,
                    .rows = static_cast<int>(job.rows),
                    .sums = sums},
                   *volume, weights, stream_of(*queues[turn]));
    device.copy(job.line_integrals + first * pixels, sums, here * pixels * 4, *queues[turn]);
  }
  for (const auto& q : queues) q->wait();
}

}  // namespace

void forward_project(const ForwardJob& job, const Devices& devices, Precision precision, ForwardReport& report) {
  const Weights weights = precision == Precision::exact ? Weights::fp32 : Weights::texture;
  std::atomic<std::int64_t> next = 0;
  std::exception_ptr failed;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (const auto& device : devices)
      threads.emplace_back([&] {
        try {
          project_views(job, *device, weights, next);
        } catch (...) {
          const std::lock_guard lock(mutex);
          failed = std::current_exception();
        }
      });
  }
  if (failed) std::rethrow_exception(failed);
  report.slabs = 1;
  report.kernel = format("{} weights, {}", weights == Weights::fp32 ? "fp32" : "texture", devices.front()->info().name);
}

}  // namespace lepus::cuda

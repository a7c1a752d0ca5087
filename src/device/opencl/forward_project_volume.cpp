// SPDX-License-Identifier: Apache-2.0
// The projector on OpenCL devices: each holds the slab of the volume as planes and takes some views at a time from one
// counter. Slab after slab, the pictures go up again with the sums so far. In: volume and pictures in host memory.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "core/format.h"
#include "core/memory.h"
#include "device/opencl/device.h"
#include "device/opencl/forward_project.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

constexpr std::int64_t picture_bytes = std::int64_t{64} << 20, upload_bytes = std::int64_t{64} << 20;
constexpr std::int64_t float_size = sizeof(float);

// Slices that go up together.
std::int64_t slices_at_once(const ForwardJob& job) {
  return std::clamp<std::int64_t>(upload_bytes / float_size / job.slice_voxels(), 1, job.grid.size[2]);
}

// How many slices a slab may have so that its planes fit every device.
std::int64_t slices_of_slabs(const ForwardJob& job, const Devices& devices, const std::vector<int>& axes, bool images,
                             std::int64_t batch) {
  std::int64_t slices = job.grid.size[2];
  for (const auto& device : devices) {
    const auto sharing = std::ranges::count_if(
        devices, [&](const auto& other) { return other->info().number == device->info().number; });
    const std::int64_t given = device->memory_limit_bytes() / sharing;
    const std::int64_t largest = dynamic_cast<OpenclDevice&>(*device).context().device().largest_block_bytes;
    const auto slab_bytes = [&](std::int64_t n) { return SlabPlanes::bytes(job.grid, axes, images, n); };
    const std::int64_t slice = (slab_bytes(64) - slab_bytes(0)) / 64;  // images are padded: of one slice it says little
    const std::int64_t fixed =
        float_size * (batch * job.pixels() + slices_at_once(job) * job.slice_voxels()) + slab_bytes(0);
    const std::int64_t fit = std::min(given - fixed, largest - slab_bytes(0)) / slice;
    if (fit < 2)
      throw Error(ErrorKind::memory, {.what = "not even two slices of the volume fit the device",
                                      .where = device->info().name,
                                      .why = format("{} given, {} for pictures and a slice of {}", format_bytes(given),
                                                    format_bytes(fixed), format_bytes(slice)),
                                      .hint = "give more device memory, or use the backend cpu"});
    slices = std::min(slices, fit);
  }
  return slices;
}

// What one device does of a slab.
void project_slab(const ForwardJob& job, OpenclDevice& device, const ForwardSlab& slab, const std::vector<int>& axes,
                  Precision precision, std::int64_t batch, std::atomic<std::int64_t>& next,
                  std::atomic<double>& load_seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto queue = device.make_queue();
  SlabPlanes planes(device, device.context(), job.grid, slab, axes, precision, *queue);
  {
    const std::int64_t piece = slices_at_once(job), slice = job.slice_voxels();
    const Block voxels = device.allocate(piece * slice * float_size);
    for (std::int64_t z = slab.first; z < slab.last; z += piece) {
      const std::int64_t count = std::min<std::int64_t>(piece, slab.last - z);
      device.copy(voxels.get(), job.volume + z * slice, count * slice * float_size, *queue);
      planes.store(reinterpret_cast<const float*>(voxels.get()), z, count, *queue);
    }
    queue->wait();
  }
  load_seconds =
      std::max<double>(load_seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  const Block sums = device.allocate(batch * job.pixels() * float_size);
  const auto views = static_cast<std::int64_t>(job.views.size());
  const bool onto = slab.cell0 >= 0;
  for (std::int64_t first = next.fetch_add(batch); first < views; first = next.fetch_add(batch)) {
    const std::int64_t count = std::min(batch, views - first), bytes = count * job.pixels() * float_size;
    float* const pictures = job.line_integrals + first * job.pixels();
    if (onto) device.copy(sums.get(), pictures, bytes, *queue);
    planes.project({job.views.data() + first, static_cast<std::size_t>(count)}, job.columns, job.rows,
                   reinterpret_cast<float*>(sums.get()), onto, *queue);
    device.copy(pictures, sums.get(), bytes, *queue);
  }
  queue->wait();
}

}  // namespace

void forward_project(const ForwardJob& job, const Devices& devices, Precision precision, ForwardReport& report) {
  const auto views = static_cast<std::int64_t>(job.views.size());
  if (views == 0 || job.pixels() == 0) return;
  const auto own = [](const std::unique_ptr<Device>& device) -> OpenclDevice& {
    return dynamic_cast<OpenclDevice&>(*device);
  };
  const std::vector<int> axes = axes_of(job);
  const bool images = precision != Precision::exact && own(devices.front()).context().images_work(CL_FLOAT);
  const std::int64_t batch = std::clamp<std::int64_t>(picture_bytes / float_size / job.pixels(), 1, views);
  const std::vector<ForwardSlab> slabs = forward_slabs(job.grid, slices_of_slabs(job, devices, axes, images, batch));
  for (const ForwardSlab& slab : slabs) {
    std::atomic<std::int64_t> next{0};
    std::atomic<double> load_seconds{0};
    std::exception_ptr failed;
    std::mutex mutex;
    std::vector<std::thread> workers;
    for (const auto& device : devices)
      workers.emplace_back([&] {
        try {
          project_slab(job, own(device), slab, axes, precision, batch, next, load_seconds);
        } catch (...) {
          next = views;  // the others stop
          const std::lock_guard lock(mutex);
          if (!failed) failed = std::current_exception();
        }
      });
    for (std::thread& worker : workers) worker.join();
    if (failed) std::rethrow_exception(failed);
    report.load_seconds += load_seconds;
  }
  report.kernel = format("{}, {}{}", images ? "sampler's weights" : "fp32 weights", devices.front()->info().name,
                         devices.size() > 1 ? format(" and {} more", devices.size() - 1) : "");
  report.slabs = static_cast<std::int64_t>(slabs.size());
}

}  // namespace lepus::opencl

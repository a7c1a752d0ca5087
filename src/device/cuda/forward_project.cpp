// SPDX-License-Identifier: Apache-2.0
// The projector on GPUs: each holds the slab of the volume as planes along the axes that the views look along, and
// takes some views at a time from one queue; pictures come down while the next are computed. Slab after slab, the
// pictures go up again with the sums so far. In: volume and pictures in host memory (pinned memory is used as it is,
// other memory through a pinned buffer).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "device/cuda/forward_project_planes.h"
#include "device/forward_project_job.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

constexpr std::int64_t picture_bytes = std::int64_t{64} << 20;
constexpr int slots = 2;

bool is_pinned(const void* host) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, host), "ask what kind of memory the caller's is");
  return attributes.type == cudaMemoryTypeHost;
}

struct Queue {
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> stop{false};
  std::atomic<double> load_seconds{0};  // until the slowest device had its slab
};

class Worker {
public:
  Worker(const ForwardJob& job, int device, Weights weights, const std::vector<int>& axes, std::int64_t batch)
      : job_(job), device_(device), weights_(weights), axes_(axes), batch_(batch) {}

  void run(const ForwardSlab& slab, Queue& queue) {
    use_device(device_);
    const auto start = std::chrono::steady_clock::now();
    const SlabPlanes planes(job_, slab, axes_, weights_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (double most = queue.load_seconds;
         most < seconds && !queue.load_seconds.compare_exchange_weak(most, seconds);) {
    }
    Slot slot[slots];
    for (Slot& s : slot) {
      s.sums = DeviceBuffer<float>(batch_ * job_.pixels());
      if (!is_pinned(job_.line_integrals)) s.staging = PinnedBuffer<float>(batch_ * job_.pixels());
    }
    const auto views = static_cast<std::int64_t>(job_.views.size());
    for (int turn = 0; !queue.stop; turn = (turn + 1) % slots) {
      Slot& s = slot[turn];
      finish(s);
      const std::int64_t first = queue.next.fetch_add(batch_);
      if (first >= views) break;
      project(s, planes.on_device(), first, std::min(batch_, views - first), slab.cell0 >= 0);
    }
    for (Slot& s : slot) finish(s);
  }

private:
  struct Slot {
    Stream stream;
    DeviceBuffer<float> sums;
    PinnedBuffer<float> staging;  // where the caller's memory is not pinned
    std::int64_t first = 0, views = 0;
  };

  void project(Slot& s, const VolumeOnDevice& volume, std::int64_t first, std::int64_t views, bool onto) {
    float* const host = s.staging.size() > 0 ? s.staging.data() : job_.line_integrals + first * job_.pixels();
    const auto bytes = static_cast<std::size_t>(views * job_.pixels()) * sizeof(float);
    s.first = first;
    s.views = views;
    if (onto) {
      if (s.staging.size() > 0) std::memcpy(host, job_.line_integrals + first * job_.pixels(), bytes);
      check(cudaMemcpyAsync(s.sums.data(), host, bytes, cudaMemcpyHostToDevice, s.stream.get()),
            "copy pictures to the device");
    }
    for (std::int64_t begin = 0; begin < views; begin += views_per_projection) {
      ProjectionOnDevice projection{};
      projection.views = static_cast<int>(std::min<std::int64_t>(views_per_projection, views - begin));
      projection.columns = static_cast<int>(job_.columns);
      projection.rows = static_cast<int>(job_.rows);
      projection.sums = s.sums.data() + begin * job_.pixels();
      projection.onto = onto;
      for (int i = 0; i < projection.views; ++i)
        projection.view[i] = job_.views[static_cast<std::size_t>(first + begin + i)];
      launch_projection(projection, volume, weights_, s.stream.get());
    }
    check(cudaMemcpyAsync(host, s.sums.data(), bytes, cudaMemcpyDeviceToHost, s.stream.get()),
          "copy pictures from the device");
  }

  void finish(Slot& s) {
    if (s.views == 0) return;
    s.stream.synchronize();
    if (s.staging.size() > 0)
      std::memcpy(job_.line_integrals + s.first * job_.pixels(), s.staging.data(),
                  static_cast<std::size_t>(s.views * job_.pixels()) * sizeof(float));
    s.views = 0;
  }

  const ForwardJob& job_;
  int device_;
  Weights weights_;
  const std::vector<int>& axes_;
  std::int64_t batch_;
};

void require_texture_size(const ForwardJob& job) {
  constexpr int most = layers_per_sheet * most_sheets;
  for (int k = 0; k < 2; ++k)
    if (job.grid.size[k] > most)
      throw Error(ErrorKind::unsupported,
                  {.what = "the volume is too large for a texture",
                   .where = {},
                   .why = format("{} voxels along {}, at most {}", job.grid.size[k], k == 0 ? "x" : "y", most),
                   .hint = "use the backend cpu"});
}

// How many slices a slab may have so that its planes fit every device.
std::int64_t slices_that_fit(const ForwardJob& job, const std::vector<int>& devices, const std::vector<int>& axes,
                             Weights weights, std::int64_t limit, std::int64_t batch) {
  std::int64_t slices = std::int64_t{layers_per_sheet} * most_sheets;
  for (const int device : devices) {
    const auto sharing = std::count(devices.begin(), devices.end(), device);
    const std::int64_t free = free_memory_bytes(device) / 10 * 9;
    const std::int64_t given = (limit > 0 ? std::min(limit, free) : free) / sharing;
    const auto slab_bytes = [&](std::int64_t n) { return SlabPlanes::bytes(job.grid, axes, weights, n); };
    const std::int64_t fixed = slots * batch * job.pixels() * 4 + SlabPlanes::upload_bytes(job.grid) + slab_bytes(0);
    const std::int64_t slice = slab_bytes(1) - slab_bytes(0);
    const std::int64_t fit = (given - fixed) / slice;
    if (fit < 2)
      throw Error(ErrorKind::memory, {.what = "not even two slices of the volume fit the device",
                                      .where = format("CUDA device {}", device),
                                      .why = format("{} MiB given, {} MiB for pictures and a slice of {} MiB",
                                                    given >> 20, fixed >> 20, slice >> 20),
                                      .hint = "give more device memory, or use the backend cpu"});
    slices = std::min(slices, fit);
  }
  return slices;
}

}  // namespace

void forward_project(const ForwardJob& job, const std::vector<int>& devices, Precision precision,
                     std::int64_t memory_bytes, ForwardReport& report) {
  require_texture_size(job);
  const std::vector<int> axes = axes_of(job);
  const auto views = static_cast<std::int64_t>(job.views.size());
  if (views == 0 || job.pixels() == 0) return;
  const Weights weights = precision == Precision::exact ? Weights::fp32 : Weights::texture;
  std::int64_t batch = std::clamp<std::int64_t>(picture_bytes / 4 / job.pixels(), 1,
                                                std::min<std::int64_t>(views_per_projection, views));
  if (batch > views_per_block) batch -= batch % views_per_block;  // whole blocks
  const std::vector<ForwardSlab> slabs =
      forward_slabs(job.grid, slices_that_fit(job, devices, axes, weights, memory_bytes, batch));
  for (const ForwardSlab& slab : slabs) {
    Queue queue;
    std::exception_ptr failed;
    std::mutex mutex;
    std::vector<std::thread> threads;
    threads.reserve(devices.size());
    for (const int device : devices)
      threads.emplace_back([&, device] {
        try {
          Worker(job, device, weights, axes, batch).run(slab, queue);
        } catch (...) {
          queue.stop = true;
          const std::lock_guard lock(mutex);
          if (!failed) failed = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    if (failed) std::rethrow_exception(failed);
    report.load_seconds += queue.load_seconds;
  }
  report.kernel =
      format("{}, {}{}", weights == Weights::fp32 ? "fp32 weights" : "texture weights", device_name(devices.front()),
             devices.size() > 1 ? format(" and {} more", devices.size() - 1) : "");
  report.slabs = static_cast<std::int64_t>(slabs.size());
}

}  // namespace lepus::cuda

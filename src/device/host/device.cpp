// SPDX-License-Identifier: Apache-2.0
#include "device/host/device.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "core/memory.h"
#include "device/host/band_kernels/band_kernels.h"
#include "device/host/backprojector.h"
#include "device/host/projector.h"
#include "device/host/ray_projector.h"
#include "device/host/row_filter.h"
#include "device/host/surface_tracer.h"
#include "device/host/vector_kernels.h"
#include "device/host/volume_kernels.h"
#include <lepus/error.h>

namespace lepus::host {
namespace {

using Clock = std::chrono::steady_clock;

class HostEvent final : public Event {
public:
  void mark(Queue&) override { at_ = Clock::now(); }
  void wait() const override {}
  double seconds_since(const Event& earlier) const override {
    return std::chrono::duration<double>(at_ - dynamic_cast<const HostEvent&>(earlier).at_).count();
  }

private:
  Clock::time_point at_;
};

class HostDevice final : public Device {
public:
  HostDevice(const std::string& kind, ThreadPool& threads, std::string target)
      : threads_(threads), target_(std::move(target)) {
    info_.kind = kind;
    info_.name = is_reference() ? "any CPU, double precision" : describe_cpu(target_);
    info_.free_bytes = available_memory_bytes();
    info_.host = true;
  }

  const DeviceInfo& info() const override { return info_; }
  std::int64_t free_bytes() const override { return available_memory_bytes(); }
  std::int64_t memory_limit_bytes() const override { return available_memory_bytes(); }

  std::unique_ptr<Queue> make_queue(QueueRank rank) override {
    return std::make_unique<HostQueue>(*this, rank == QueueRank::beside ? nullptr : &threads_);
  }
  std::unique_ptr<Event> make_event(Timing) override { return std::make_unique<HostEvent>(); }

  Block allocate(std::int64_t bytes, Place) override {
    auto buffer = std::make_shared<Buffer<std::byte>>(bytes);
    return {buffer, buffer->data()};
  }
  bool copies_fast(const void*) const override { return true; }
  void copy(void* to, const void* from, std::int64_t bytes, Queue&) override {
    if (to != from) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void clear(void* memory, std::int64_t bytes, Queue&) override {
    std::memset(memory, 0, static_cast<std::size_t>(bytes));
  }

  std::unique_ptr<Projector> make_projector(const ProjectorSetup& setup) override {
    return host::make_projector(
        is_reference()
            ? make_reference_backprojector(*setup.geometry, setup.grid, setup.interpolation)
            : make_backprojector(*setup.geometry, setup.grid, setup.interpolation, target_, setup.cylinder_mm),
        setup);
  }
  std::unique_ptr<RowFilter> make_row_filter(const RowFilterSetup& setup) override {
    return host::make_row_filter(setup, threads_.size());
  }
  std::unique_ptr<RayProjector> make_ray_projector(const RayProjectorSetup& setup) override {
    return host::make_ray_projector(
        setup, is_reference() ? WeightPrecision::double_precision : WeightPrecision::single_precision);
  }
  BandKernels& band_kernels() override { return *kernels_; }
  VectorKernels& vector_kernels() override { return *vectors_; }
  std::unique_ptr<SurfaceTracer> make_surface_tracer(const SurfaceTracerSetup& setup) override {
    return host::make_surface_tracer(setup);
  }
  VolumeKernels* volume_kernels() override { return volume_kernels_.get(); }

private:
  bool is_reference() const { return info_.kind == "reference"; }

  ThreadPool& threads_;
  std::string target_;
  std::unique_ptr<BandKernels> kernels_ = make_band_kernels();
  std::unique_ptr<VectorKernels> vectors_ = make_vector_kernels();
  std::unique_ptr<VolumeKernels> volume_kernels_ = make_volume_kernels();
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> make_device(const std::string& kind, ThreadPool& threads, const std::string& target) {
  return std::make_unique<HostDevice>(kind, threads, target);
}

ThreadPool& threads_of(const Queue& queue) {
  if (const auto* here = dynamic_cast<const HostQueue*>(&queue)) return here->threads();
  throw Error(ErrorKind::internal,
              {.what = "the host was given another device's queue", .where = {}, .why = {}, .hint = {}});
}

}  // namespace lepus::host

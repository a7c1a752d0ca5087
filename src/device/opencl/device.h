// SPDX-License-Identifier: Apache-2.0
// An OpenCL device as device.h has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/band_kernels.h"
#include "device/device.h"
#include "device/opencl/context.h"
#include "device/vector_kernels.h"

namespace lepus::opencl {

class OpenclDevice final : public Device {
public:
  // limit_bytes: of its memory, 0: 90 % of what is free. Throws Error(unsupported) where the device cannot be used.
  OpenclDevice(const Library* cl, int number, Precision precision = Precision::exact, std::int64_t limit_bytes = 0);

  const DeviceInfo& info() const override { return info_; }
  std::int64_t free_bytes() const override;
  std::int64_t memory_limit_bytes() const override;
  std::unique_ptr<Queue> make_queue(QueueRank rank = QueueRank::usual) override;
  std::unique_ptr<Event> make_event(Timing timing = Timing::off) override;
  Block allocate(std::int64_t bytes, Place place = Place::device) override;
  bool copies_fast(const void* host_memory) const override;
  void copy(void* to, const void* from, std::int64_t bytes, Queue& queue) override;
  void clear(void* memory, std::int64_t bytes, Queue& queue) override;
  // Corrections count in double precision.
  bool corrects_bands() const override { return context_->device().doubles; }
  std::unique_ptr<Projector> make_projector(const ProjectorSetup& setup) override;
  BandKernels& band_kernels() override { return *kernels_; }
  std::unique_ptr<lepus::RowFilter> make_row_filter(const lepus::RowFilterSetup& setup) override;
  std::unique_ptr<RayProjector> make_ray_projector(const RayProjectorSetup& setup) override;
  VectorKernels& vector_kernels() override;

  Context& context() { return *context_; }

private:
  [[noreturn]] void refuse_without_doubles(const char* what) const;
  std::shared_ptr<Context> context_;
  Precision precision_;
  std::int64_t limit_bytes_;
  DeviceInfo info_;
  std::unique_ptr<BandKernels> kernels_;
  std::unique_ptr<VectorKernels> vectors_;  // null: the device has no double precision
};

// Of this machine's loader.
int device_count();
std::string why_unusable();
std::unique_ptr<Device> make_device(int number, Precision precision, std::int64_t limit_bytes);

}  // namespace lepus::opencl

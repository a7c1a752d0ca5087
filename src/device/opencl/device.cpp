// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/device.h"

#include <algorithm>

#include "core/format.h"
#include "core/memory.h"
#include "device/opencl/band_kernels.h"
#include "device/opencl/projector.h"
#include "device/opencl/queue.h"
#include "device/opencl/ray_projector.h"
#include "device/opencl/vector_kernels.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

// OpenCL does not tell what other programs took; a device that works in the host's memory has what is left there.
std::int64_t free_of(const DeviceDescription& device, std::int64_t allocated) {
  const std::int64_t left = device.memory_bytes - allocated;
  return std::max<std::int64_t>(0, device.shares_memory ? std::min(left, available_memory_bytes()) : left);
}

DeviceInfo info_of(const DeviceDescription& device, int number) {
  return {.kind = "opencl",
          .number = number,
          .name = device.name,
          .why_not = device.why_not,
          .free_bytes = free_of(device, 0),
          .host = false};
}

}  // namespace

OpenclDevice::OpenclDevice(const Library* cl, int number, Precision precision, std::int64_t limit_bytes)
    : context_(Context::of(require_device(cl, number))),
      precision_(precision),
      limit_bytes_(limit_bytes),
      info_(info_of(context_->device(), number)),
      kernels_(make_band_kernels(*context_)),
      vectors_(context_->device().doubles ? make_vector_kernels(*context_) : nullptr) {}

std::int64_t OpenclDevice::free_bytes() const { return free_of(context_->device(), context_->allocated_bytes()); }

std::int64_t OpenclDevice::memory_limit_bytes() const {
  return limit_bytes_ > 0 ? limit_bytes_ : free_bytes() / 10 * 9;
}

std::unique_ptr<Queue> OpenclDevice::make_queue(QueueRank) { return std::make_unique<OpenclQueue>(*this, context_); }

std::unique_ptr<Event> OpenclDevice::make_event(Timing) { return std::make_unique<OpenclEvent>(context_); }

Block OpenclDevice::allocate(std::int64_t bytes, Place place) {
  if (place == Place::device && limit_bytes_ > 0 && context_->allocated_bytes() + bytes > limit_bytes_)
    throw Error(ErrorKind::memory,
                {.what = "the limit on device memory is reached",
                 .where = info_.name,
                 .why = format("{} asked for, {} of {} taken", format_bytes(bytes),
                               format_bytes(context_->allocated_bytes()), format_bytes(limit_bytes_)),
                 .hint = "give more device memory"});
  return context_->allocate(bytes, place);
}

std::unique_ptr<Projector> OpenclDevice::make_projector(const ProjectorSetup& setup) {
  return opencl::make_projector(*this, *context_, precision_, setup);
}

std::unique_ptr<lepus::RowFilter> OpenclDevice::make_row_filter(const lepus::RowFilterSetup& setup) {
  return opencl::make_row_filter(*this, *context_, setup);
}

std::unique_ptr<RayProjector> OpenclDevice::make_ray_projector(const RayProjectorSetup& setup) {
  if (!context_->device().doubles) refuse_without_doubles("operators set up their rays");
  return opencl::make_ray_projector(*this, *context_, setup);
}

VectorKernels& OpenclDevice::vector_kernels() {
  if (!vectors_) refuse_without_doubles("iterative methods sum");
  return *vectors_;
}

void OpenclDevice::refuse_without_doubles(const char* what) const {
  throw Error(ErrorKind::unsupported, {.what = format("{} in double precision", what),
                                       .where = info_.name,
                                       .why = "it lacks cl_khr_fp64",
                                       .hint = "use the backend cpu"});
}

int device_count() { return library() ? static_cast<int>(list_devices(*library()).size()) : 0; }

std::string why_unusable() { return why_unusable(library()); }

std::unique_ptr<Device> make_device(int number, Precision precision, std::int64_t limit_bytes) {
  return std::make_unique<OpenclDevice>(library(), number, precision, limit_bytes);
}

}  // namespace lepus::opencl

// SPDX-License-Identifier: Apache-2.0
#include "post/filter_device.h"

#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "correct/workspace.h"
#include "post/transpose.h"

namespace lepus::post {

struct FilterDevice::State {
  int device;
  cuda::Stream stream;
  cuda::Workspace workspace{stream.get()};

  Planes take(const Planes& like) {
    Planes planes = like;
    planes.data = workspace.take<float>(like.count * like.plane_stride);
    return planes;
  }
  void copy(const Planes& from, const Planes& to, cudaMemcpyKind way) {
    cuda::check(
        cudaMemcpyAsync(to.data, from.data, static_cast<std::size_t>(from.count * from.plane_stride) * sizeof(float),
                        way, stream.get()),
        "copy slices to or from the device");
  }
};

std::string why_no_filter_device() { return cuda::why_unusable(); }

FilterDevice::FilterDevice(int device) {
  cuda::require_device(device);
  cuda::use_device(device);
  state_ = std::make_unique<State>();
  state_->device = device;
}

FilterDevice::~FilterDevice() = default;

std::string FilterDevice::name() const { return cuda::device_name(state_->device); }
std::int64_t FilterDevice::free_bytes() const { return cuda::free_memory_bytes(state_->device); }

void FilterDevice::filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut) {
  cuda::use_device(state_->device);
  const cuda::Workspace::Scope scope(state_->workspace);
  const Planes from = state_->take(in), to = state_->take(out);
  state_->copy(in, from, cudaMemcpyHostToDevice);
  cuda::filter(from, to, options, cut, state_->workspace);
  state_->copy(to, out, cudaMemcpyDeviceToHost);
  state_->stream.synchronize();
}

void FilterDevice::filter_separately(const Planes& in, const Planes& out, const FilterOptions& options) {
  cuda::use_device(state_->device);
  FilterOptions once = options;
  once.iterations = 1;
  const cuda::Workspace::Scope scope(state_->workspace);
  const Planes upright = state_->take(in), filtered = state_->take(in);
  const Planes turned = turned_planes(upright, upright.data), turned_filtered = turned_planes(filtered, filtered.data);
  state_->copy(in, upright, cudaMemcpyHostToDevice);
  for (int i = 0; i < options.iterations; ++i) {
    cuda::filter(upright, filtered, once, state_->workspace);
    transpose_on_device(filtered, turned, state_->stream.get());
    cuda::filter(turned, turned_filtered, once, state_->workspace);
    transpose_on_device(turned_filtered, upright, state_->stream.get());
  }
  state_->copy(upright, out, cudaMemcpyDeviceToHost);
  state_->stream.synchronize();
}

}  // namespace lepus::post

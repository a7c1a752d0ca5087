// SPDX-License-Identifier: Apache-2.0
#include "post/filter_device.h"

#include <utility>

#include "device/band_kernels.h"
#include "post/transpose.h"

namespace lepus::post {

FilterDevice::FilterDevice(std::unique_ptr<Device> device)
    : device_(std::move(device)), queue_(device_->make_queue()) {}

Planes FilterDevice::take(const Planes& like) {
  Planes planes = like;
  planes.data = queue_->scratch<float>(like.count * like.plane_stride);
  return planes;
}

void FilterDevice::copy(const Planes& from, const Planes& to) {
  device_->copy(to.data, from.data, from.count * from.plane_stride * static_cast<std::int64_t>(sizeof(float)), *queue_);
}

void FilterDevice::filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut) {
  const ScratchScope scope(*queue_);
  const Planes from = take(in), to = take(out);
  copy(in, from);
  device_->band_kernels().filter(from, to, options, cut, *queue_);
  copy(to, out);
  queue_->wait();
}

void FilterDevice::filter_separately(const Planes& in, const Planes& out, const FilterOptions& options) {
  FilterOptions once = options;
  once.iterations = 1;
  BandKernels& kernels = device_->band_kernels();
  const ScratchScope scope(*queue_);
  const Planes upright = take(in), filtered = take(in);
  const Planes turned = turned_planes(upright, upright.data), turned_filtered = turned_planes(filtered, filtered.data);
  copy(in, upright);
  for (int i = 0; i < options.iterations; ++i) {
    kernels.filter(upright, filtered, once, uncut(upright), *queue_);
    kernels.transpose(filtered, turned, *queue_);
    kernels.filter(turned, turned_filtered, once, uncut(turned), *queue_);
    kernels.transpose(turned_filtered, upright, *queue_);
  }
  copy(upright, out);
  queue_->wait();
}

}  // namespace lepus::post

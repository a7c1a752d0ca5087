// SPDX-License-Identifier: Apache-2.0
// The host's side of the ways from host to host, made once per size and shared by all steps: locking pages of a volume
// of 4 GiB takes longer than most steps. Pages are there before any clock starts.
#pragma once

#include <cstdint>

#include "device/cuda/device_memory.h"
#include "core/memory.h"
#include "core/threads.h"

namespace lepus::ladder {

class HostMemory {
public:
  HostMemory(std::int64_t voxels, ThreadPool& threads) : voxels_(voxels), threads_(threads) {}

  // A volume in ordinary and in page-locked memory; each is made when it is first asked for.
  float* ordinary_volume();
  float* locked_volume();
  // Page-locked memory for views on their way up; what was handed out before is gone where more is asked for.
  float* locked_views(std::int64_t pixels);

private:
  std::int64_t voxels_;
  ThreadPool& threads_;
  Buffer<float> ordinary_;
  cuda::PinnedBuffer<float> locked_, views_;
};

}  // namespace lepus::ladder

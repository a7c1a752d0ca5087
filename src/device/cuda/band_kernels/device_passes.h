// SPDX-License-Identifier: Apache-2.0
// The passes of the filters on a CUDA device: `from` -> rows and planes of `to` that the pass names, all in device
// memory, on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include "project/filter_window.h"

namespace lepus::filters {

struct DeviceJob {
  Pass pass;
  Stack original, from, to;
};

void smooth_on_device(const DeviceJob& job, cudaStream_t stream);
void median_on_device(const DeviceJob& job, cudaStream_t stream);
void bilateral_on_device(const DeviceJob& job, cudaStream_t stream);

// Shared memory that a block may ask for on the current device.
int largest_shared_bytes();

}  // namespace lepus::filters

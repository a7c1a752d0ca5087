// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/band_kernels/filter.h"

#include <array>

#include "device/cuda/band_kernels/device_passes.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"

namespace lepus {

int filters::largest_shared_bytes() {
  int device = 0, bytes = 0;
  cuda::check(cudaGetDevice(&device), "ask for the device");
  cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
              "ask for the device's shared memory");
  return bytes;
}

void cuda::filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
                  Queue& queue) {
  const ScratchScope scope(queue);
  std::array<float*, 2> memory{};
  std::array<std::int64_t, 2> floats{};
  const auto scratch = [&](int which, std::int64_t wanted) {
    const auto i = static_cast<std::size_t>(which);
    if (floats[i] < wanted) memory[i] = queue.scratch<float>(floats[i] = wanted);
    return memory[i];
  };
  filters::run_passes(in, out, options, cut, scratch,
                      [&](const filters::Pass& pass, const filters::Stack& original, const filters::Stack& from,
                          const filters::Stack& to) {
                        if (to.part.width == 0 || pass.rows.size() == 0 || pass.planes.size() == 0) return;
                        const filters::DeviceJob job{pass, original, from, to};
                        if (pass.kind == FilterKind::median)
                          filters::median_on_device(job, cuda::stream_of(queue));
                        else if (pass.kind == FilterKind::bilateral)
                          filters::bilateral_on_device(job, cuda::stream_of(queue));
                        else
                          filters::smooth_on_device(job, cuda::stream_of(queue));
                      });
}

}  // namespace lepus

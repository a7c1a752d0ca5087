// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "bench/papers/gpu.h"
#include "correct/workspace.h"

namespace lepus::bench {
namespace {

double time_on_device(const PaperRun& run, const SinogramStack& stack, const SinogramStep& step,
                      std::vector<float>& last) {
  cuda::use_device(run.device);
  const cuda::Stream stream;
  cuda::Workspace workspace(stream.get());
  const std::int64_t floats = stack.pixels() * stack.count;
  const cuda::DeviceBuffer<float> in(floats), out(step.in_place ? 0 : floats);
  float* const result = step.in_place ? in.data() : out.data();
  const auto bytes = static_cast<std::size_t>(stack.pixels()) * sizeof(float);
  double best = 1e300;
  for (int i = -1; i < run.repeats; ++i) {
    run.context.cancel.check();
    // Work in place starts from the same sinograms every time.
    if (i < 0 || step.in_place)
      for (std::int64_t s = 0; s < stack.count; ++s)
        cuda::check(cudaMemcpyAsync(in.data() + s * stack.pixels(), stack.sinogram.data(), bytes,
                                    cudaMemcpyHostToDevice, stream.get()),
                    "copy sinograms to the device");
    stream.synchronize();
    const double start = measure::seconds();
    step.on_device(stack, in.data(), result, workspace);
    stream.synchronize();
    if (i >= 0) best = std::min(best, measure::seconds() - start);
  }
  last.resize(stack.sinogram.size());
  cuda::check(cudaMemcpy(last.data(), result + (stack.count - 1) * stack.pixels(), bytes, cudaMemcpyDeviceToHost),
              "copy a sinogram from the device");
  return best;
}

}  // namespace

GpuPapers cuda_papers() { return {"cuda", time_on_device, cuda::filter, cuda::remove_rings}; }

}  // namespace lepus::bench

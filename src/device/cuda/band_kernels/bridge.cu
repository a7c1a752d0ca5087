// SPDX-License-Identifier: Apache-2.0
// Bad pixels bridged on a device: a thread per run and view, then a thread per pixel of every bad row.
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/band_kernels/pixel_kernels.h"

namespace lepus::pixels {
namespace {

constexpr unsigned bridge_threads = 128;

__global__ void bridge_runs(const PixelRun* runs, std::int64_t count, Planes sinograms) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const PixelRun run = runs[i];
  for (std::int64_t view = blockIdx.y; view < sinograms.height; view += gridDim.y) {
    float* w = sinograms.row(run.row, view);
    for (std::int64_t x = run.begin; x < run.end; ++x) w[x] = bridged(w, run, sinograms.width, x);
  }
}

__global__ void bridge_lines(const RowLine* lines, std::int64_t count, Planes sinograms) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= sinograms.width) return;
  for (std::int64_t i = blockIdx.z; i < count; i += gridDim.z) {
    const RowLine line = lines[i];
    const std::int64_t above = line.above >= 0 ? line.above : line.below,
                       below = line.below >= 0 ? line.below : line.above;
    if (above < 0) continue;
    for (std::int64_t view = blockIdx.y; view < sinograms.height; view += gridDim.y) {
      const float a = sinograms.row(above, view)[x], b = sinograms.row(below, view)[x];
      sinograms.row(line.row, view)[x] = above == below ? a : between_rows(a, b, line);
    }
  }
}

template <class T>
T* upload(const T* host, std::int64_t count, Queue& queue) {
  T* const device = queue.scratch<T>(count);
  // From pageable memory: the call returns when the list has been taken.
  cuda::check(cudaMemcpyAsync(device, host, static_cast<std::size_t>(count) * sizeof(T), cudaMemcpyHostToDevice,
                              cuda::stream_of(queue)),
              "send a list of pixels to the device");
  return device;
}

}  // namespace

void launch_bridges(const PixelRun* runs, std::int64_t run_count, const RowLine* lines, std::int64_t line_count,
                    const Planes& sinograms, Queue& queue) {
  const ScratchScope scope(queue);
  const auto blocks = [](std::int64_t n, std::int64_t most) { return static_cast<unsigned>(n < most ? n : most); };
  if (run_count > 0) {
    const PixelRun* const device = upload(runs, run_count, queue);
    const dim3 grid(static_cast<unsigned>((run_count + bridge_threads - 1) / bridge_threads),
                    blocks(sinograms.height, 4096));
    bridge_runs<<<grid, bridge_threads, 0, cuda::stream_of(queue)>>>(device, run_count, sinograms);
    cuda::check_launch("bridge_runs");
  }
  if (line_count > 0) {
    const RowLine* const device = upload(lines, line_count, queue);
    const dim3 grid(static_cast<unsigned>((sinograms.width + bridge_threads - 1) / bridge_threads),
                    blocks(sinograms.height, 4096), blocks(line_count, 64));
    bridge_lines<<<grid, bridge_threads, 0, cuda::stream_of(queue)>>>(device, line_count, sinograms);
    cuda::check_launch("bridge_lines");
  }
}

}  // namespace lepus::pixels

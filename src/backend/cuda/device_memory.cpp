// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device_memory.h"

#include "backend/cuda/cuda_check.h"

namespace lepus::cuda {

void* allocate_device(std::int64_t bytes) {
  void* memory = nullptr;
  check_allocation(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), bytes, "allocate device memory");
  return memory;
}

void* allocate_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  check_allocation(cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable), bytes,
                   "allocate pinned host memory");
  return memory;
}

void copy_to_device(void* device, const void* host, std::size_t bytes, const char* doing) {
  check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), doing);
  check(cudaStreamSynchronize(cudaStreamLegacy), doing);
}

void fill_device(void* device, int byte, std::size_t bytes, const char* doing) {
  check(cudaMemset(device, byte, bytes), doing);
  check(cudaStreamSynchronize(cudaStreamLegacy), doing);
}

Stream::Stream(Rank rank) {
  int last = 0, first = 0;
  check(cudaDeviceGetStreamPriorityRange(&last, &first), "ask for the priorities of streams");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, rank == Rank::first ? first : last),
        "create a stream");
  stream_ = Owner<cudaStream_t, cudaStreamDestroy>(stream);
}
void Stream::wait_for(cudaEvent_t event) const { check(cudaStreamWaitEvent(get(), event, 0), "wait for an event"); }
void Stream::synchronize() const { check(cudaStreamSynchronize(get()), "wait for the device"); }

Event::Event(Timing timing) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming),
        "create an event");
  event_ = Owner<cudaEvent_t, cudaEventDestroy>(event);
}
void Event::record(cudaStream_t stream) const { check(cudaEventRecord(get(), stream), "record an event"); }
void Event::synchronize() const { check(cudaEventSynchronize(get()), "wait for the device"); }
bool Event::reached() const {
  const cudaError_t status = cudaEventQuery(get());
  if (status == cudaErrorNotReady) return false;
  check(status, "ask the device how far it is");
  return true;
}
float Event::milliseconds(const Event& from, const Event& to) {
  float time = 0;
  check(cudaEventElapsedTime(&time, from.get(), to.get()), "read the device's clock");
  return time;
}

MemoryInfo memory_info() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "ask for the device's free memory");
  return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

}  // namespace lepus::cuda

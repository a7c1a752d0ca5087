// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/devices.h"

#include <cuda_runtime_api.h>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/slab_kernels.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

Error unusable(const std::string& what, const std::string& why, const std::string& hint) {
  return Error(ErrorKind::unsupported, {.what = what, .where = "backend cuda", .why = why, .hint = hint});
}

std::string spoken(cudaError_t status) {
  if (status == cudaErrorInsufficientDriver) return "no NVIDIA driver, or one older than CUDA 13 needs";
  return cudaGetErrorString(status);
}

}  // namespace

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

std::string why_unusable() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status != cudaSuccess) return spoken(status);
  if (count == 0) return "no NVIDIA GPU";
  try {
    require_device(0);
  } catch (const Error& error) {
    return error.parts().why;
  }
  return {};
}

void require_device(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status != cudaSuccess || count == 0)
    throw unusable("no CUDA device can be used", status == cudaSuccess ? "no NVIDIA GPU" : spoken(status),
                   "use --backend cpu, or check the driver with nvidia-smi");
  if (device < 0 || device >= count)
    throw unusable(format("there is no CUDA device {}", device), format("this machine has devices 0 to {}", count - 1),
                   "choose another with --device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "ask what the device is");
  const cudaError_t runs = kernels_run_on(device);
  if (runs != cudaSuccess)
    throw unusable(format("CUDA device {} cannot run this build", device),
                   format("{} has compute capability {}.{}: {}", properties.name, properties.major, properties.minor,
                          cudaGetErrorString(runs)),
                   "build for it with -DCMAKE_CUDA_ARCHITECTURES (7.5 and newer), or use --backend cpu");
}

void use_device(int device) { check(cudaSetDevice(device), format("use CUDA device {}", device)); }

UsingDevice::UsingDevice(int device) {
  check(cudaGetDevice(&before_), "ask for the current CUDA device");
  use_device(device);
}
UsingDevice::~UsingDevice() { (void)cudaSetDevice(before_); }

std::string device_name(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "ask what the device is");
  return properties.name;
}

std::int64_t free_memory_bytes(int device) {
  use_device(device);
  return memory_info().free_bytes;
}

}  // namespace lepus::cuda

// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <cuda_runtime_api.h>

#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "core/format.h"
#include "bench/measure/gpu.h"
#include "bench/measure/limits_parts.h"
#include <lepus/error.h>

namespace lepus::measure {
namespace {

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ..." -> "580.65.06"
std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line, word;
  std::getline(file, line);
  for (const char c : line + " ")
    if (c != ' ')
      word += c;
    else {
      if (!word.empty() && word.find_first_not_of("0123456789.") == std::string::npos &&
          word.find('.') != std::string::npos)
        return word;
      word.clear();
    }
  return {};
}

std::string why_no_cuda_device(int device) {
  try {
    cuda::require_device(device);
  } catch (const Error& error) {
    return error.parts().why.empty() ? error.parts().what : error.parts().why;
  }
  return {};
}

GpuDescription describe_cuda_device(int device) {
  cuda::require_device(device);
  GpuDescription d;
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, device), "device properties");
  d.name = properties.name;
  d.memory_bytes = static_cast<double>(properties.totalGlobalMem);
  d.multiprocessors = properties.multiProcessorCount;
  int kilohertz = 0;  // no longer among the properties since CUDA 13
  cuda::check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device), "device clock");
  d.clock_hz = 1e3 * kilohertz;
  int version = 0;
  cuda::check(cudaDriverGetVersion(&version), "driver version");
  const std::string module = kernel_module_version();
  d.driver = format("{}{}CUDA {}.{}", module, module.empty() ? "" : ", ", version / 1000, version % 1000 / 10);
  return d;
}

}  // namespace

GpuMeasure cuda_measure() { return {"cuda", why_no_cuda_device, describe_cuda_device, measure_cuda_limits}; }

}  // namespace lepus::measure

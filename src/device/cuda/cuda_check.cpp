// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_check.h"

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

std::string device_name() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return "CUDA";
  return format("CUDA device {}", device);
}

std::string spoken_gib(double bytes) { return format("{:.2f} GiB", bytes / (1 << 30)); }

[[noreturn]] void fail(cudaError_t status, const std::string& doing, std::int64_t bytes) {
  const std::string said = format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
  cudaGetLastError();  // forget an error that is not sticky: the next call must not be blamed for this one
  switch (status) {
    case cudaErrorMemoryAllocation: {
      std::size_t free = 0, total = 0;
      const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
      cudaGetLastError();
      const std::string asked = bytes > 0 ? format("{} asked for, ", spoken_gib(static_cast<double>(bytes))) : "";
      const std::string left =
          known ? format("{} of {} free", spoken_gib(static_cast<double>(free)), spoken_gib(static_cast<double>(total)))
                : "free memory unknown";
      throw Error(ErrorKind::memory, {.what = "cannot " + doing,
                                      .where = device_name(),
                                      .why = asked + left,
                                      .hint = "give less device memory, or end other programs that use the device"});
    }
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorStubLibrary:
    case cudaErrorCompatNotSupportedOnDevice:
      throw Error(ErrorKind::unsupported, {.what = "cannot " + doing,
                                           .where = device_name(),
                                           .why = said,
                                           .hint = "use the backend cpu, or check the driver with nvidia-smi"});
    default:
      throw Error(ErrorKind::internal, {.what = "cannot " + doing,
                                        .where = device_name(),
                                        .why = said,
                                        .hint = "the device stopped working for this run: run again, with --backend "
                                                "cpu if it happens again; nvidia-smi says whether it is still there"});
  }
}

}  // namespace

void check(cudaError_t status, const std::string& doing) {
  if (status != cudaSuccess) fail(status, doing, 0);
}

void check_allocation(cudaError_t status, std::int64_t bytes, const std::string& doing) {
  if (status != cudaSuccess) fail(status, doing, bytes);
}

void check_launch(const std::string& kernel) { check(cudaGetLastError(), "launch " + kernel); }

}  // namespace lepus::cuda

// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices of this machine: those of every platform in one list, GPUs first, so that device 0 is the best
// guess. Each says what it is, what it can do and why it cannot be used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/opencl/opencl_library.h"

namespace lepus::opencl {

struct DeviceDescription {
  const Library* cl = nullptr;
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string name;            // "NVIDIA H200 (OpenCL 3.0, NVIDIA CUDA)"
  std::string why_not;         // why it cannot be used; empty where it can
  bool gpu = false;            // else a CPU, or an accelerator
  bool shares_memory = false;  // with the host
  std::int64_t memory_bytes = 0, largest_block_bytes = 0, local_bytes = 0, constant_bytes = 0;
  std::int64_t largest_group = 0;                                    // work-items of a group
  std::int64_t image_columns = 0, image_rows = 0, image_layers = 0;  // the largest image of layers
  bool doubles = false;                                              // cl_khr_fp64
  bool rounds_division = false;  // to the nearest float, if it is asked to; else within 2.5 units in the last place
  int version = 0;               // 120, 300
};

// Of all platforms, by the functions of `cl`. Throws nothing: what cannot be asked has a why_not.
std::vector<DeviceDescription> list_devices(const Library& cl);
// Why OpenCL cannot be used at all, for people; empty where some device can. `cl` null: there is no loader.
std::string why_unusable(const Library* cl);
// Device `number` of the list. Throws Error(unsupported) with the reason.
DeviceDescription require_device(const Library* cl, int number);

}  // namespace lepus::opencl

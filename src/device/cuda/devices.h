// SPDX-License-Identifier: Apache-2.0
// Which CUDA devices there are, and whether they can be used.
#pragma once

#include <cstdint>
#include <string>

namespace lepus::cuda {

// Why no device can be used, for people; empty where one can.
std::string why_unusable();

int device_count();                   // 0 where there is no driver
void require_device(int device);      // throws Error: no such device, too old for this build, no driver
void use_device(int device);          // for the calling thread
std::string device_name(int device);  // "NVIDIA H200"
std::int64_t free_memory_bytes(int device);

// The calling thread uses a device for a while, and then again what it used before.
class UsingDevice {
public:
  explicit UsingDevice(int device);
  ~UsingDevice();
  UsingDevice(const UsingDevice&) = delete;
  UsingDevice& operator=(const UsingDevice&) = delete;

private:
  int before_ = 0;
};

}  // namespace lepus::cuda

// SPDX-License-Identifier: Apache-2.0
// Which GPU there is, told without a type of CUDA, so that a build without CUDA has the same functions.
#pragma once

#include <string>

namespace lepus::measure {

// Why device number `device` cannot be used, for people; empty where it can.
std::string why_no_gpu(int device);

struct GpuDescription {
  std::string name, driver;
  double memory_bytes = 0;
  int multiprocessors = 0;
  double clock_hz = 0;  // the highest that the card allows itself
};
GpuDescription describe_gpu(int device);  // Error(unsupported) where there is none

}  // namespace lepus::measure

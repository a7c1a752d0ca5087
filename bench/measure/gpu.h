// SPDX-License-Identifier: Apache-2.0
// Which GPU there is, without a type of its interface.
#pragma once

#include <string>
#include <vector>

namespace lepus::measure {

struct Limits;

// Why device number `device` cannot be used, for people; empty where it can.
std::string why_no_gpu(int device);

struct GpuDescription {
  std::string name, driver;
  double memory_bytes = 0;
  int multiprocessors = 0;
  double clock_hz = 0;  // the highest that the card allows itself
};
GpuDescription describe_gpu(int device);  // Error(unsupported) where there is none

// The same by the interface of one kind of GPU.
struct GpuMeasure {
  std::string kind;  // "cuda"
  std::string (*why_not)(int device);
  GpuDescription (*describe)(int device);
  void (*limits)(Limits& limits, int device, bool quick);
};
std::vector<GpuMeasure> gpu_measure();  // those this build has

}  // namespace lepus::measure

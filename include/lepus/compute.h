// SPDX-License-Identifier: Apache-2.0
// What computes, and how much it may take: one set of choices for everything that lepus does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lepus/export.h>
#include <lepus/options.h>

namespace lepus {

struct Compute {
  std::string backend = "auto";  // "auto": a GPU where one can be used, else "cpu"; list_devices() has all
  std::string devices = "0";     // which of that kind: "0", "0,1", "all"; the same number twice: two workers on it
  Precision precision = Precision::half;  // of a GPU; the CPU is always exact
  std::int64_t device_memory_bytes = 0;   // limit on each GPU; 0: 90 % of what is free
  int threads = 0;                        // of the host; 0: one per hardware thread
  // Limit for the whole process; 0: 60 % of what is free, for fdk() none.
  std::int64_t memory_bytes = 0;
};

struct DeviceInfo {
  std::string kind;             // "cpu", "cuda": what Compute::backend calls it
  int number = 0;               // among those of its kind
  std::string name;             // "NVIDIA H200"
  std::string why_not;          // why it cannot be used, for people; empty where it can
  std::int64_t free_bytes = 0;  // of its memory
  bool host = false;            // it works on the host's threads and in the host's memory
};

// Every machine that this build of lepus could compute on, those that cannot be used here with the reason.
LEPUS_API std::vector<DeviceInfo> list_devices();
// How many devices of a backend this machine shows, 1 at least; "auto": of the one that it takes.
LEPUS_API int device_count(const std::string& backend);

}  // namespace lepus

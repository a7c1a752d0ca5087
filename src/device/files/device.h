// SPDX-License-Identifier: Apache-2.0
// The host as a device whose memory is a file: vectors of iterative methods that do not fit into the host's memory. Its
// vector kernels bring pieces in, work on them with the host's kernels and write them back, with the same bits; every
// call returns when its work is done, and what the disk refuses is an Error(disk).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/threads.h"
#include "device/device.h"
#include "device/vector_kernels.h"

namespace lepus::files {

inline constexpr const char* kind = "files";  // of its DeviceInfo

struct Setup {
  std::filesystem::path folder;   // of the file
  std::int64_t bytes = 0;         // of all blocks together
  std::int64_t memory_bytes = 0;  // of them that stay in the host's memory
  std::int64_t work_bytes = 0;    // that a kernel takes of it beside these
};

std::unique_ptr<Device> make_device(const Setup& setup, ThreadPool& threads);

// What total variation of such volumes takes at least of work_bytes.
std::int64_t smallest_work_bytes(const VolumeShape& shape);

}  // namespace lepus::files

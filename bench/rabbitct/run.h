// SPDX-License-Identifier: Apache-2.0
// A run of RabbitCT: a data file through a backend, timed as RabbitCT's runner does it, and scored.
//   views:  every view is summed when it comes
//   blocks: views are kept until there are as many as the kernel likes; what the last one waits for counts as its time
//   whole:  all views lie in memory, and the clock runs from there until the volume does
// Reading the file never counts; sending views up and the volume down does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "bench/rabbitct/format.h"
#include "bench/rabbitct/result.h"
#include "bench/rabbitct/score.h"
#include <lepus/options.h>

namespace lepus::rabbitct {

enum class Protocol { views, blocks, whole };

struct RunOptions {
  std::int64_t size = 512;
  std::string backend = "auto";  // "cpu", "cuda", "opencl", "reference"; "auto": cuda where a GPU can be used, else cpu
  int device = 0;
  Precision precision = Precision::exact;
  Protocol protocol = Protocol::blocks;
  std::int64_t block = 0;         // of Protocol::blocks; 0: what the kernel likes
  int repeats = 1;                // of Protocol::whole; the best counts
  bool score = true;              // false: measure time alone
  std::int64_t check_slices = 3;  // that are computed again in double precision, for the unrounded error
  std::int64_t memory_bytes = 0;  // limit for the whole process; 0: none
};

struct RunReport {
  Header header;
  std::int64_t size = 0;
  std::string backend, device, kernel;
  std::vector<std::uint64_t> microseconds;  // per view; whole: an equal share each
  double seconds = 0;                       // their sum
  double prepare_seconds = 0;               // before the first view: memory, kernels
  double last_view_seconds = 0;             // from the last view's arrival until the volume is ready
  std::optional<Score> score;
  std::optional<UnroundedScore> unrounded;
  std::vector<float> centre_slice;  // size / 2 - 1, HU

  double updates() const;
  double gups() const { return updates() / seconds / 0x1p30; }
  Result result(int version) const;
};

RunReport run(const DataFile& file, const RunOptions& options, Context& context);

}  // namespace lepus::rabbitct

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
#include "bench/rabbitct/options.h"
#include "bench/rabbitct/result.h"
#include "bench/rabbitct/score.h"

namespace lepus::rabbitct {

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

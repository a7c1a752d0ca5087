// SPDX-License-Identifier: Apache-2.0
// A data file of RabbitCT's form from a simulated C-arm sweep: an irregular arc of 200 degrees around an analytic
// phantom, views weighted (Parker) and ramp-filtered, references by the definition in double precision.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/context.h"
#include "bench/rabbitct/format.h"
#include "bench/rabbitct/options.h"

namespace lepus::rabbitct {

struct MakeReport {
  Header header;
  std::int64_t last_size = 0;
  std::vector<std::int64_t> slices;  // computed, of each of RabbitCT's sizes up to the last
  std::vector<std::string> warnings;
};

// The sweep: the C-arm of RabbitCT's rabbit in kind (source 750 mm from the axis and 1200 mm from a detector of 399 x
// 307 mm), its isocentre wandering by tenths of a millimetre, its detector tilted and twisted by tenths of a degree.
ScanGeometry c_arm_sweep(const MakeOptions& options);

MakeReport make(const std::filesystem::path& path, const MakeOptions& options, Context& context);

}  // namespace lepus::rabbitct

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
#include "simulate/simulate.h"

namespace lepus::rabbitct {

struct MakeOptions {
  int version = 2;
  std::int64_t columns = 1248, rows = 960, views = 496;
  double arc_deg = 200;
  std::vector<std::int64_t> sizes{128, 256};  // of the references; those left out before the largest are marked so
  std::int64_t reference_slices = 0;          // of each that are computed; 0: all up to 256, 32 of 512, 8 of 1024
  PhantomChoice phantom;
  double jitter = 1;  // times the usual irregularity; 0: an ideal arc of a tilted detector
  std::uint64_t seed = 1;
  bool force = false;
  std::int64_t memory_bytes = 0;  // limit for the whole process; 0: none
};

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

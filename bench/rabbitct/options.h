// SPDX-License-Identifier: Apache-2.0
// What a run of RabbitCT and the making of a data file can be asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lepus/options.h>
#include <lepus/simulate.h>

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

}  // namespace lepus::rabbitct

// SPDX-License-Identifier: Apache-2.0
// A chain of steps on a finished volume, slab by slab: filters, masks, Hounsfield units, a part of it, integers.
// Neither volume needs to fit into memory; the result is the same, bit for bit, whatever the slabs. docs/post.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/compute.h>
#include <lepus/export.h>
#include <lepus/geometry.h>
#include <lepus/output_values.h>

namespace lepus {

struct PostOptions {
  std::filesystem::path input = {};   // a volume in any format that lepus reads
  std::filesystem::path output = {};  // the volume to write; the format follows from the ending
  // "median radius=2": a kind of post_kinds() (lepus/scan_keys.h) and its parameters; a list has commas between its
  // values. They are done in this order.
  std::vector<std::string> steps = {};
  OutputValues stored = {};  // how voxels are stored, where no step makes integers
  // What runs the filters: "auto", "cpu" or "cuda", one device, of several the first. Threads and memory are those of
  // `call`, the precision is always exact.
  Compute compute = {};
  // An unfinished run of the same steps is gone on with (docs/restart.md) where there is one; there must be one, or it
  // is thrown away:
  bool resume = false, restart = false;
  Call call = {};
};

struct PostReport {
  VolumeGrid grid;
  std::string pixel_type, unit;
  std::string device;              // what ran the filters: "cpu" or the GPU's name
  std::vector<std::string> steps;  // what each did: "median filter of radius 2 in 3-D"
  std::int64_t slabs = 0, slab_slices = 0;
  double seconds = 0;
  std::string provenance;  // JSON, as it stands in the output
};

// Throws before any work where the steps, the output, the memory or the disk will not do.
LEPUS_API PostReport post_process(const PostOptions& options);

}  // namespace lepus

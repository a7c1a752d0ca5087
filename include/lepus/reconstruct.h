// SPDX-License-Identifier: Apache-2.0
// lepus as a library: a scan file to a volume file, or arrays to arrays. Everything throws lepus::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <lepus/geometry.h>
#include <lepus/options.h>

namespace lepus {

struct ReconstructOptions {
  std::string backend = "auto";           // "auto": cuda where a GPU can be used, else cpu; "reference"
  std::string device = "0";               // which GPUs: "0", "0,1", "all"
  Precision precision = Precision::half;  // of a GPU
  std::int64_t device_memory_bytes = 0;   // limit on each GPU; 0: 90 % of what is free
  int threads = 0;                        // 0: one per hardware thread
  std::int64_t memory_bytes = 0;          // limit for the whole process; 0: 60 % of what is free
  bool force = false;                     // overwrite the output
};

struct ReconstructReport {
  std::filesystem::path output;
  VolumeGrid grid;
  std::string plan;                      // a few lines
  std::string backend, device;           // what computed
  std::string kernel;                    // which code summed the views
  std::vector<std::string> corrections;  // what each found and changed
  std::vector<std::string> post;         // what each step on the volume did
  std::vector<std::string> warnings;     // what the user should look at
  double seconds = 0, filter_seconds = 0, backproject_seconds = 0, write_wait_seconds = 0;
  double updates = 0;  // voxel updates: voxels x views
  std::int64_t peak_memory_bytes = 0, memory_limit_bytes = 0;
  std::string provenance;  // JSON, as it stands in the volume
};

// scan.toml -> volume file; the format follows from the ending.
ReconstructReport reconstruct(const std::filesystem::path& scan_file, const std::filesystem::path& volume_file,
                              const ReconstructOptions& options = {});

struct FdkOptions {
  RampOptions filter;
  Interpolation interpolation = Interpolation::linear;
  bool field_of_view_mask = false;  // zero outside the field of view
  std::string backend = "cpu";      // or "auto", "cuda", "reference"
  std::string device = "0";
  Precision precision = Precision::exact;
  int threads = 0;
};

// Line integrals in memory (views x rows x columns, u fastest; recorded pixels where the detector is an arc) to a
// volume in memory (nz x ny x nx, x fastest), in 1/mm.
void fdk(const ScanGeometry& geometry, const float* line_integrals, const VolumeGrid& grid, float* volume,
         const FdkOptions& options = {});

}  // namespace lepus

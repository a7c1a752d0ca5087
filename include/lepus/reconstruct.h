// SPDX-License-Identifier: Apache-2.0
// lepus as a library: a scan file to a volume file, or arrays to arrays. What goes wrong is a lepus::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <lepus/compute.h>
#include <lepus/geometry.h>
#include <lepus/method.h>
#include <lepus/options.h>
#include <lepus/output_values.h>
#include <lepus/progress.h>

namespace lepus {

// How far a run is: which scan, how it is cut, which slabs are in the output, what was counted.
struct RunState;
LEPUS_API std::string to_json(const RunState& state);

// The processes that make a volume together (ranks/ranks.h).
class Ranks;

struct ReconstructOptions {
  MethodChoices method = {};
  Compute compute = {};
  bool force = false;                  // overwrite the output
  OutputValues output = {};            // how its voxels are stored
  Progress* progress = nullptr;        // null: nobody is told
  const CancelFlag* cancel = nullptr;  // null: it cannot be interrupted
  // Is called when slabs are about to be made, after each that is in the output, and when the last one is: from
  // several threads, one at a time. The value is valid until it returns.
  std::function<void(const RunState&)> state = {};
  bool slab_checksums = false;  // in the state
  // An unfinished run of the same scan and options is gone on with (docs/restart.md), which must be there: ...
  bool resume = false;
  bool restart = false;  // ... or is begun anew
  // One of several processes that make a volume together, each some of its slices; the last one to end completes it.
  int share = 0, shares = 0;         // 3 of 16; 0: this one makes all
  std::filesystem::path trace = {};  // when what was done, of all ranks, in Chrome's trace format; "": nowhere
  Ranks* ranks = nullptr;            // null: this process alone
  int wedges = 0;                    // ranks that share out the views of a slab; 0: as few as leave no rank idle
};

// What one of several processes did.
struct RankReport {
  std::string node;
  std::int64_t slices = 0;  // that it wrote
  std::int64_t rows = 0;    // of the detector, whose line integrals it had (iterative methods)
  double seconds = 0, filter_seconds = 0, backproject_seconds = 0, write_wait_seconds = 0;
  std::int64_t peak_memory_bytes = 0;
};
LEPUS_API std::string to_json(const RankReport& report);

struct ReconstructReport {
  std::filesystem::path output;
  std::int64_t output_bytes = 0;  // of it on the disk, where it is complete
  bool complete = true;           // false: this was a share, and others are still to come
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
  std::vector<RankReport> ranks;  // by rank; none where one process did all. Complete on rank 0 alone
  std::string provenance;         // JSON, as it stands in the volume
};

// A scan file, the folder of a scanner or its header (docs/scanners.md) -> a volume file, whose ending chooses the
// format; "": output.file of the scan file.
LEPUS_API ReconstructReport reconstruct(const std::filesystem::path& scan_file,
                                        const std::filesystem::path& volume_file,
                                        const ReconstructOptions& options = {});

struct FdkOptions {
  RampOptions filter = {};
  Interpolation interpolation = Interpolation::linear;
  bool field_of_view_mask = false;  // zero outside the field of view
  Compute compute = {};
  Progress* progress = nullptr;
  const CancelFlag* cancel = nullptr;
};

// Line integrals in memory (views x rows x columns, u fastest; recorded pixels where the detector is an arc) to a
// volume in memory (nz x ny x nx, x fastest), in 1/mm. Throws Error(usage) where an array has another size.
LEPUS_API void fdk(const ScanGeometry& geometry, std::span<const float> line_integrals, const VolumeGrid& grid,
                   std::span<float> volume, const FdkOptions& options = {});

}  // namespace lepus

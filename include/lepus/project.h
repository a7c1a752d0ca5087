// SPDX-License-Identifier: Apache-2.0
// A volume's line integrals as a scan would have measured them, what they leave of what it measured, or the matrix that
// makes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <lepus/call.h>
#include <lepus/compute.h>
#include <lepus/export.h>
#include <lepus/operator.h>

namespace lepus {

struct VolumeProjectionOptions {
  RayModel model = RayModel::joseph;
  bool against = false;  // less the scan's own line integrals, corrected
  // An unfinished run of the same volume and scan is gone on with (docs/restart.md), which must be there: ...
  bool resume = false;
  bool restart = false;  // ... or is begun anew
  Compute compute = {};  // its threads and memory are the call's where it has none
  Call call = {};
};

struct VolumeProjectionReport {
  std::int64_t views = 0, columns = 0, rows = 0;
  std::string kernel;
  double seconds = 0;
  double norm = 0;      // of the volume's line integrals
  double measured = 0;  // of the scan's, where they were asked for
  double residual = 0;  // of the difference
};

// One frame of line integrals (float) a view, as the scan's detector records them; the ending of `frames` chooses the
// format. The volume lies where its file says. Where the scan file has center = "auto", the axis is found first.
LEPUS_API VolumeProjectionReport project_volume(const std::filesystem::path& volume,
                                                const std::filesystem::path& scan_file,
                                                const std::filesystem::path& frames,
                                                const VolumeProjectionOptions& options = {});

struct ProjectionMatrixOptions {
  RayModel model = RayModel::joseph;
  std::filesystem::path volume = {};  // whose voxels are the columns; "": the scan's own
  Call call = {};
};

struct ProjectionMatrixReport {
  std::int64_t rows = 0, columns = 0;
  std::int64_t weights = 0;  // that are not zero
};

// The operator itself, for small problems: a sparse matrix (CSR) in mm as .npz that scipy.sparse.load_npz reads, one
// row a pixel, one column a voxel, x fastest. Throws Error(memory) where it takes more than half of what the limit
// leaves.
LEPUS_API ProjectionMatrixReport write_projection_matrix(const std::filesystem::path& scan_file,
                                                         const std::filesystem::path& matrix,
                                                         const ProjectionMatrixOptions& options = {});

}  // namespace lepus

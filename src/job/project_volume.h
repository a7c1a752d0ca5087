// SPDX-License-Identifier: Apache-2.0
// A volume's line integrals as a scan would have measured them, or what they leave of what it measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/context.h"
#include "scan/scan.h"
#include <lepus/operator.h>

namespace lepus {

struct VolumeProjectionOptions {
  RayModel model = RayModel::joseph;
  Compute compute;
  bool against = false;  // less the scan's own line integrals, corrected
  bool force = false;
  bool restart = false;  // begin anew where an unfinished run is there; else it is gone on with
};

struct VolumeProjectionReport {
  std::int64_t views = 0, columns = 0, rows = 0;
  std::string kernel;
  double seconds = 0;
  double norm = 0;      // of the volume's line integrals
  double measured = 0;  // of the scan's, where they were asked for
  double residual = 0;  // of the difference
};

// One frame of line integrals (float) a view, as the scan's detector records them: those of an arc are interpolated
// (preprocess/arc_resample.h) between the pixels of the flat one that its matrices describe. The ending of `frames`
// chooses the format. The volume lies where its file says. Views that an unfinished run of the same volume and
// scan has made are not made again.
VolumeProjectionReport project_volume(const std::filesystem::path& volume, const Scan& scan,
                                      const std::filesystem::path& frames, const VolumeProjectionOptions& options,
                                      Context& context);

}  // namespace lepus

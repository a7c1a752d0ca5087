// SPDX-License-Identifier: Apache-2.0
// The program's way into a reconstruction: a scan that was read, threads, progress and interruption from outside.
#pragma once

#include <filesystem>
#include <memory>

#include "core/context.h"
#include "io/resumable_volume.h"
#include "io/volume_file.h"
#include "run/plan.h"
#include "scan/scan.h"
#include <lepus/plan.h>
#include <lepus/reconstruct.h>

namespace lepus {

// The volume file of a run, where the disk has the space for it: else throws Error(disk).
std::unique_ptr<VolumeWriter> create_output(const Scan& scan, const std::filesystem::path& volume_file,
                                            const ReconstructOptions& options, Context& context);

// The same for a run that can be gone on with: where an unfinished one of the same scan and options is there, its
// volume. keep_journals: as ResumableRun's.
std::unique_ptr<ResumableVolume> open_output(const Scan& scan, const std::filesystem::path& volume_file,
                                             const ReconstructOptions& options, bool keep_journals, Context& context);

ReconstructReport reconstruct_scan(const Scan& scan, const std::filesystem::path& volume_file,
                                   const ReconstructOptions& options, Context& context);
// The same into any writer; `output` is the file that comes of it in the end: scratch files, where they are needed, lie
// beside it and belong to it.
ReconstructReport reconstruct_scan(const Scan& scan, VolumeWriter& writer, const std::filesystem::path& output,
                                   const ReconstructOptions& options, Context& context);
// The same into a volume of which parts may be there.
ReconstructReport reconstruct_scan(const Scan& scan, ResumableVolume& volume, const std::filesystem::path& output,
                                   const ReconstructOptions& options, Context& context);

// What reconstruct_scan would do: the plan, coverage, field of view, expected time; nothing is computed or written.
struct ScanPlan {
  PlanReport report;   // without a cluster
  MachineSpeed speed;  // of what computes: the host, or one device
  bool on_host = true;
  double cylinder_mm = 0;  // what is reconstructed around the axis
  std::int64_t frame_pixel_bytes = 2;
};
ScanPlan plan_scan(const Scan& scan, const ReconstructOptions& options, Context& context);

}  // namespace lepus

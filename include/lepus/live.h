// SPDX-License-Identifier: Apache-2.0
// Reconstruction while the scanner still measures: a scan file whose frames come one by one -> previews on the way, and
// the volume when the last view has come. The same volume as lepus reconstruct makes afterwards, up to the order of
// sums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/compute.h>
#include <lepus/export.h>
#include <lepus/geometry.h>

namespace lepus {

struct LiveOptions {
  std::optional<std::int64_t> views = {};         // how many frames will come; none: the scan file says it
  std::optional<std::int64_t> first_number = {};  // in the name of the first frame; none: 0 or 1, whichever comes
  std::filesystem::path preview = {};             // PNG of three slices, overwritten again and again; "": none
  std::filesystem::path status = {};              // JSON, the same; "": none
  double every_s = 5;                             // between two previews
  double timeout_s = 600;                         // without any new or growing file
  double settle_s = 0.2;           // so long a file stays the same where the system does not tell that it was closed
  bool finish_incomplete = false;  // after the timeout; false: an Error(input) that names what is missing
  Compute compute = {};            // its threads and memory are the call's where it has none
  Call call = {};
};

struct LiveReport {
  std::filesystem::path output;
  VolumeGrid grid;
  std::string backend, device, kernel;
  std::int64_t views = 0;             // that are in the volume
  std::vector<std::string> missing;   // names of frames that did not come
  std::vector<std::string> left_out;  // corrections that need other views
  std::vector<std::string> warnings;
  std::int64_t previews = 0;
  double seconds = 0;                                  // from the start
  double filter_seconds = 0, backproject_seconds = 0;  // of it
  double ready_seconds = 0;    // from when the last file was first seen as it is to the volume in memory
  double written_seconds = 0;  // and to the volume on disk
  std::int64_t peak_memory_bytes = 0, memory_limit_bytes = 0;
  std::string provenance;  // JSON, as it stands in the volume
};

// Interruption (call.cancel) leaves a last preview and throws Error(cancelled) that says how many views were in;
// starting again takes what is there at full speed and goes on.
LEPUS_API LiveReport reconstruct_live(const std::filesystem::path& scan_file, const std::filesystem::path& volume_file,
                                      const LiveOptions& options = {});

}  // namespace lepus

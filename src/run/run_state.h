// SPDX-License-Identifier: Apache-2.0
// The state of a run as one value: which scan, how it is cut, what is finished, what was counted. As JSON it is
// complete enough that another process could go on from it. A plain value; whoever shares one between threads locks it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/journal.h"
#include "geometry/row_band.h"
#include "preprocess/row_audit.h"
#include "run/correction_chain.h"
#include "run/plan.h"
#include "scan/scan.h"
#include <lepus/reconstruct.h>

namespace lepus {

// Which scan, so that no run goes on with another one's slabs.
struct ScanIdentity {
  std::string file;              // the scan file, for people
  std::string resolved;          // checksum of the scan file with every value that was left out, 16 hexadecimal digits
  std::string inputs;            // checksum of the names, sizes and times of all files that it names
  std::int64_t input_files = 0;  // how many these are
  std::string geometry;          // checksum of all views' matrices, whatever file they came from
  friend bool operator==(const ScanIdentity&, const ScanIdentity&) = default;
};
// Looks at the files (stat), not at their pixels; headers and HDF5 files are asked which others they lead to.
ScanIdentity identity_of(const Scan& scan);

// What of the scan must be the same for a run to go on with its volume.
std::vector<JournalFact> facts_of(const Scan& scan);
// The same of a run that reads none of its frames.
std::vector<JournalFact> facts_without_frames(const Scan& scan);

// The sum of its slices' modulo 2^64: parts of a slab add up.
std::uint64_t slab_checksum(const VolumeGrid& grid, SlabRange slab, const float* voxels);

struct RunState {
  static constexpr int version = 2;  // of the JSON; other versions are refused

  ScanIdentity scan;
  std::string output;  // what the run writes
  Compute compute;

  struct Cut {
    std::string kind;  // "rolling window"
    std::int64_t slices = 0, views = 0;
    std::vector<SlabRange> slabs;  // as planned; devices of different speeds cut others
    std::int64_t wedge_views = 0;  // at a time
  } plan;

  struct FinishedSlab {
    SlabRange slab{0, 0};
    std::string checksum;  // slab_checksum of what was written, 16 hexadecimal digits; "": nobody asked for it
  };
  std::vector<FinishedSlab> finished_slabs;  // ascending

  AuditState audit;
  std::vector<CorrectionReport> corrections;  // what each did so far

  struct CorrectedRows {
    std::string file;            // "v.mha.rows-4711-0a1b2c3d", beside the output; "": they are in memory
    std::vector<RowBand> bands;  // that it holds, of all views
  } corrected_rows;

  std::int64_t iteration = 0;  // of an iterative method; 0 for FDK

  // The slab is in the output. Throws Error(internal) where it is outside the volume or a part of it was finished
  // before.
  void finished(SlabRange slab, const std::string& checksum);
  std::vector<SlabRange> missing_slabs() const;  // what of the volume is not finished, ascending
  bool complete() const { return missing_slabs().empty(); }
};

// Throws Error(input) naming `where` for another version and for anything that to_json would not have written.
RunState run_state_from_json(const std::string& json, const std::string& where);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The sweep along z: slab after slab, rows are read, filtered and held, views are summed, and finished slabs are
// written while the next one is summed. One loop for every machine: each device takes slabs from one queue; the plan
// says which rows stay and which pass by. docs/architecture.md draws it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "device/device.h"
#include "filter/weights.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "preprocess/normalise.h"
#include "preprocess/row_audit.h"
#include "preprocess/row_resampler.h"
#include "run/plan.h"

namespace lepus {

class CorrectedFrames;

// What a reconstruction is, whichever frames it is made from. Everything pointed to outlives the sweep.
struct SweepJob {
  const ScanGeometry* wide = nullptr;   // as views are filtered and backprojected
  const FdkWeights* weights = nullptr;  // null: the frames are filtered views, float
  RampOptions ramp;
  Interpolation interpolation = Interpolation::linear;
  VolumeGrid grid;
  double cylinder_mm = 0;
  std::int64_t columns = 0;  // of the weighted rows; wide has zeros beside them
  std::int64_t columns_before = 0;
  const RowResampler* resampler = nullptr;  // from recorded rows to those that are filtered; null: they are the same
  std::int64_t frame_pixel_bytes = 2;
  bool from_memory = false;  // frames need no reading
  bool by_bands = false;     // they are corrected: rows of all views, band after band
  // Of the host: the limit for the whole process (0: 60 % of what is free), and memory that is still to be taken.
  std::int64_t memory_bytes = 0, still_to_come_bytes = 0;
  std::int64_t device_memory_bytes = 0;  // on each card, below its own limit; 0: that
  bool measure_speed = false;            // of the host, on a small piece, so that the plan's seconds are this machine's
  std::int64_t largest_slab = 0;         // slices at most, so that several processes can share a volume; 0: what fits

  // A device gets rows that are filtered as they are, so line integrals where they are resampled.
  std::int64_t uploaded_row_bytes() const {
    return columns * (resampler ? static_cast<std::int64_t>(sizeof(float)) : frame_pixel_bytes);
  }
};

struct SweepFrames {
  const FrameSource* source = nullptr;
  RowAudit* audit = nullptr;                               // null: who made the frames keeps account
  const Normalisation* normalisation = nullptr;            // null: they hold line integrals
  const std::vector<std::int64_t>* dead_pixels = nullptr;  // bridged along their row; null: none
  const CorrectedFrames* corrected = nullptr;              // the source, where it is one
};

struct SweepTimes {
  double filter_s = 0;  // correcting and filtering rows, and on the host waiting for them
  double backproject_s = 0;
  double write_wait_s = 0;  // waiting for the writer
};

// Whoever keeps account of the slabs that are in the output. finished: null, or called by several threads; checksum:
// slab_checksum (run/run_state.h), 0 where it is not asked for.
struct SlabAccount {
  std::function<void(SlabRange slab, std::uint64_t checksum)> finished = {};
  bool checksums = false;
  // Null, or completes slices [z0, z1), which are sums over some views only, in place, before they are written; false:
  // another process writes them. Called by several threads, for the slices of a slab in order.
  std::function<bool(SlabRange slices, float* voxels)> complete = {};
};

// What of a reconstruction a run makes.
struct SweepWork {
  VolumeParts parts = {};              // null: the whole volume. May be called by any thread, one at a time
  std::int64_t slices = 0;             // in all, as far as that is known, for the progress; 0: the whole volume
  std::int64_t wedge = 0, wedges = 1;  // of the views: one of so many equal parts, at most as many as Sweep::wedges()
};

class Sweep {
public:
  // Plans; takes no large memory yet. The devices outlive it.
  Sweep(const SweepJob& job, const Devices& devices, ThreadPool& threads);
  ~Sweep();
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  const Plan& plan() const;
  const BandTable& bands() const;
  std::string kernel() const;

  // Into how many parts the views can be cut.
  std::int64_t wedges() const;

  // May be called again with frames of the same kind: what was taken on a device is kept.
  SweepTimes run(const SweepFrames& frames, VolumeWriter& writer, Context& context, const SlabAccount& account = {},
                 const SweepWork& work = {});

private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string description(const Devices& devices);  // "2 x NVIDIA H200"

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The machinery of one FDK reconstruction, made ready before any work: weights, ramp filter, backprojector, bands,
// plan. Feldkamp, Davis, Kress: Practical cone-beam algorithm, J. Opt. Soc. Am. A 1 (1984).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "run/filtered_rows.h"
#include "run/sweep.h"
#include <lepus/reconstruct.h>

namespace lepus {

struct FdkSetup {
  ScanGeometry geometry;
  VolumeGrid grid;
  RampOptions filter;
  Interpolation interpolation = Interpolation::linear;
  bool field_of_view_mask = true;
  std::int64_t memory_bytes = 0;         // of the process; 0: 60 % of what is free
  std::int64_t still_to_come_bytes = 0;  // fixed memory that is not taken yet when the plan is made
  std::int64_t device_memory_bytes = 0;  // on each card, where less than its own limit is left; 0: that
  std::int64_t frame_pixel_bytes = 2;
  bool frames_in_memory = false;  // they need no reading, and reading them again costs little
  bool frames_corrected = false;  // they come in bands of rows, as floats whatever frame_pixel_bytes says
  bool measure_speed = false;     // time a small piece, so that the plan's seconds are this machine's
  std::int64_t largest_slab = 0;  // slices at most, so that several processes can share the volume; 0: what fits
};

class Fdk {
public:
  // The devices outlive it.
  Fdk(const FdkSetup& setup, const Devices& devices, ThreadPool& threads);
  Fdk(const Fdk&) = delete;  // its parts know where the others are
  Fdk& operator=(const Fdk&) = delete;

  const Plan& plan() const { return sweep_->plan(); }
  const FdkWeights& weights() const { return weights_; }
  std::string backend() const { return devices_.front()->info().kind; }  // as it was chosen
  std::string device() const { return description(devices_); }           // what computes
  std::string kernel() const { return sweep_->kernel(); }
  RowBand recorded_rows() const;                                     // that the volume is made from
  RowBand recorded_rows(std::int64_t view, SlabRange slices) const;  // of one view, for these slices
  double field_of_view_mm() const { return field_of_view_mm_; }
  double cylinder_mm() const { return cylinder_mm_; }  // what is reconstructed around the axis

  // The views, as recorded or corrected.
  SweepTimes run(const SweepFrames& frames, VolumeWriter& writer, Context& context, const SlabAccount& account = {},
                 const SweepWork& work = {}) {
    return sweep_->run(frames, writer, context, account, work);
  }
  std::int64_t views() const { return flat_.views(); }
  std::int64_t slices() const { return grid_.nz; }
  std::int64_t wedges() const { return sweep_->wedges(); }  // into how many parts the views can be cut

private:
  const Devices& devices_;
  VolumeGrid grid_;
  FilteredRows rows_;
  const ScanGeometry& flat_;  // what is weighted
  FdkWeights weights_;
  double field_of_view_mm_, cylinder_mm_;
  ScanGeometry wide_;  // what is filtered and backprojected: half-fan rows are padded (filter/weights.h)
  std::unique_ptr<Sweep> sweep_;
};

// fdk() of include/lepus/reconstruct.h from frames of line integrals, and to a volume, that lie anywhere; not finished.
void fdk(const ScanGeometry& geometry, const FrameSource& line_integrals, const VolumeGrid& grid, VolumeWriter& volume,
         const FdkOptions& options);
// Throws Error(memory) where it does not fit into options.compute.memory_bytes.
void require_fdk_memory(const ScanGeometry& geometry, const VolumeGrid& grid, const FdkOptions& options);

}  // namespace lepus

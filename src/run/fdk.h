// SPDX-License-Identifier: Apache-2.0
// The machinery of one FDK reconstruction, made ready before any work: weights, ramp filter, backprojector, bands,
// plan. Feldkamp, Davis, Kress: Practical cone-beam algorithm, J. Opt. Soc. Am. A 1 (1984).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/backend.h"
#include "core/context.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "run/device_sweep.h"
#include "run/filtered_rows.h"
#include "run/sweep.h"
#include "run/plan.h"

namespace lepus {

struct FdkSetup {
  ScanGeometry geometry;
  VolumeGrid grid;
  RampOptions filter;
  Interpolation interpolation = Interpolation::linear;
  bool field_of_view_mask = true;
  std::string backend = "auto";  // "auto": cuda where a device can be used, else cpu
  DeviceChoice device;
  std::int64_t memory_bytes = 0;         // 0: 60 % of what is free
  std::int64_t still_to_come_bytes = 0;  // fixed memory that is not taken yet when the plan is made
  std::int64_t frame_pixel_bytes = 2;
  bool frames_in_memory = false;  // they need no reading, and reading them again costs little
  bool frames_corrected = false;  // they come in bands of rows, as floats whatever frame_pixel_bytes says
  bool measure_speed = false;     // time a small piece, so that the plan's seconds are this machine's
};

class Fdk {
public:
  Fdk(FdkSetup setup, ThreadPool& threads);
  Fdk(const Fdk&) = delete;  // its parts know where the others are
  Fdk& operator=(const Fdk&) = delete;

  const Plan& plan() const { return plan_; }
  const FdkWeights& weights() const { return weights_; }
  const DevicePlan* device_plan() const { return device_ ? &device_->plan() : nullptr; }  // null: the host computes
  std::string plan_description() const;
  std::string backend() const { return setup_.backend; }  // as it was chosen
  std::string device() const;                             // what computes
  std::string kernel() const;
  RowBand recorded_rows() const;  // that the volume is made from
  double field_of_view_mm() const { return field_of_view_mm_; }
  double cylinder_mm() const { return cylinder_mm_; }  // what is reconstructed around the axis

  // The views, as recorded or corrected.
  struct Frames {
    const FrameSource& source;
    RowAudit* audit = nullptr;                               // null: who made the frames keeps account
    const Normalisation* normalisation = nullptr;            // null: they hold line integrals
    const std::vector<std::int64_t>* dead_pixels = nullptr;  // bridged along their row; null: none
    const CorrectedFrames* corrected = nullptr;              // the source, where it is one
  };
  SweepTimes run(const Frames& frames, VolumeWriter& writer, Context& context);

private:
  PlanRequest request(ThreadPool& threads) const;
  void plan_on_device();

  FdkSetup setup_;
  FilteredRows rows_;
  const ScanGeometry& flat_;  // what is weighted
  FdkWeights weights_;
  double field_of_view_mm_, cylinder_mm_;
  ScanGeometry wide_;  // what is filtered and backprojected: half-fan rows are padded (filter/weights.h)
  RampFilter ramp_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Backprojector> backprojector_;
  std::optional<BandTable> bands_;
  Plan plan_;
  std::unique_ptr<DeviceSweep> device_;  // where a device computes
};

}  // namespace lepus

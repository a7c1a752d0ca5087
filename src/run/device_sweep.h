// SPDX-License-Identifier: Apache-2.0
// The sweep along z on CUDA devices: raw frames go up, are normalised, weighted, filtered and backprojected there, and
// finished slabs come down, while the next frames are read. Each device takes slabs from one queue; a device has
// streams of its own for the way up, the work and the way down. docs/cuda.md draws it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"
#include "filter/weights.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "run/corrected_frames.h"
#include "run/row_filter.h"
#include "run/sweep.h"
#include "run/device_plan.h"

namespace lepus {

// Why no device can be used, for people ("this build has no CUDA"); empty where one can.
std::string why_no_device();
bool this_build_has_cuda();

struct DeviceChoice {
  std::string devices = "0";      // "0", "0,1", "all"; one worker each, and the same number twice: two on one card
  std::int64_t memory_bytes = 0;  // on each card; 0: 90 % of what is free
  Precision precision = Precision::half;
};

// What a reconstruction is, whichever frames it is made from.
struct DeviceJob {
  const ScanGeometry* wide = nullptr;  // as it is filtered and backprojected
  const FdkWeights* weights = nullptr;
  const BandTable* bands = nullptr;
  RampOptions filter;
  Interpolation interpolation = Interpolation::linear;
  VolumeGrid grid;
  double cylinder_mm = 0;
  bool views_are_filtered = false;  // the frames are float and only backprojected; weights may be null then
  std::int64_t columns = 0;         // of the weighted rows; wide has zeros beside them
  std::int64_t columns_before = 0;
  // Of the rows that are sent up: the frames' own, or line integrals where the host prepares them.
  std::int64_t sent_rows = 0, sent_columns = 0, sent_pixel_bytes = 2;
  bool from_memory = false;     // frames need no reading
  bool by_bands = false;        // they are corrected: rows of all views, band after band
  std::int64_t host_bytes = 0;  // what page-locked buffers may take on the host
};

class DeviceSweep {
public:
  // Plans; takes no memory on the device yet.
  DeviceSweep(const DeviceJob& job, const DeviceChoice& choice);
  ~DeviceSweep();
  DeviceSweep(const DeviceSweep&) = delete;
  DeviceSweep& operator=(const DeviceSweep&) = delete;

  const DevicePlan& plan() const;
  std::string description() const;  // of the kernel
  std::string device() const;       // "2 x NVIDIA H200"

  // prepare: makes line integrals on the host where the device cannot (null: the device does all of it).
  struct Frames {
    const FrameSource* source = nullptr;
    RowAudit* audit = nullptr;
    const Normalisation* normalisation = nullptr;
    std::vector<std::int64_t> dead_pixels;  // bridged along their row
    double saturation_level = 0;
    const RowFilter* prepare = nullptr;
    const CorrectedFrames* corrected = nullptr;  // the source, where its rows may lie on a card
    const RowResampler* resampler = nullptr;     // from its rows to those that are filtered; null: they are the same
  };
  // May be called again with frames of the same kind: what lies on the device is kept.
  SweepTimes run(const Frames& frames, VolumeWriter& writer, Context& context);

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus

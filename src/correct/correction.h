// SPDX-License-Identifier: Apache-2.0
// One link of a chain of corrections. Each is made from a struct of options (pixels/, filters/, rings/, beam/) and what
// is known of the scan; scan/correction_options.h makes the structs from a scan file. A correction sees a band of
// detector rows of all views at once, on the host or on a device, and works in place; the chain (run/corrected_frames)
// brings the bands, with the halo of rows that each needs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/memory.h"
#include "core/threads.h"
#include "device/band_kernels.h"
#include "device/device.h"
#include "project/planes.h"
#include <lepus/geometry.h>

namespace lepus {

// What the values are. Grey levels: counts above the dark as a fraction of the open beam, g = (I - dark) / (flat -
// dark), 1 in air; line integrals: p = -ln g.
enum class Stage { grey_levels, line_integrals };

class Correction {
public:
  virtual ~Correction() = default;

  // Rows that must be in the band for rows `wanted` to come out right; clipped to the detector.
  virtual RowBand rows_needed(RowBand wanted, std::int64_t /*detector_rows*/) const { return wanted; }
  // Host memory that apply() takes beside the band, for the plan.
  virtual std::int64_t scratch_bytes(const SinogramBand& /*largest*/, int /*threads*/) const { return 0; }

  // In place: afterwards rows `wanted` of the band are right, others of it may be anything. The result of a row does
  // not depend on how the detector is cut into bands nor on the number of threads.
  // The band lies in the memory of the queue's device, which has operation(); may return before the work is done.
  virtual void apply(const SinogramBand& band, RowBand wanted, Queue& queue) = 0;
  virtual BandOperation operation() const = 0;
  // Whether the device has what it is made of; else the host does it (correct/apply_correction.h).
  virtual bool works_with(const BandKernels& kernels, const SinogramBand& /*band*/) const {
    return kernels.has(operation());
  }

  // Whether a row of one view depends on other views: then a band must hold all of them.
  virtual bool needs_all_views() const = 0;

  // Of what it did so far, what a person should look at; "" where there is nothing. Throws Error(usage) where it has
  // replaced more than its options allow (correct/replaced_share.h). When the queues have been waited for.
  virtual std::string judge() const { return {}; }
  // What it found and did so far, for the report: "12 hot pixels replaced".
  virtual std::string summary() const = 0;
};

// What a correction may know of the scan when it is made.
struct ScanFacts {
  std::int64_t columns = 0, rows = 0, views = 0;  // of the selected frames
  const ScanGeometry* geometry = nullptr;
  Stage stage = Stage::grey_levels;  // where the chain has placed it
  // Rows of all views, [row][view][column], as the chain before this correction leaves them.
  std::function<Buffer<float>(RowBand)> band;
  ThreadPool* threads = nullptr;                         // for what is looked at in the scan; null: one of its own
  std::function<void(const std::string&)> warning = {};  // is called with what a person should look at
};

void warn(const ScanFacts& facts, const std::string& message);  // where somebody listens
// Error(usage) about what a correction was asked for, `correction` being its kind. Who made it from a scan file adds
// the line.
[[noreturn]] void refuse(const char* correction, std::string what, std::string why, std::string hint);
// The same where the chain has placed the correction on the wrong side of the log, with the order that would work.
void require_stage(const char* correction, const ScanFacts& facts, Stage wanted);

}  // namespace lepus

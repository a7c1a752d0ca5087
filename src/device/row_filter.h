// SPDX-License-Identifier: Apache-2.0
// Recorded rows to filtered rows on a device: counts -> line integrals -> dead pixels bridged -> flat detector with
// level rows -> FDK weights -> ramp filter -> into a store of views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filter/ramp.h"
#include "filter/weights.h"
#include "io/frames.h"
#include "preprocess/normalise.h"
#include "preprocess/row_audit.h"
#include "preprocess/row_resampler.h"
#include <lepus/error.h>

namespace lepus {

class Queue;
class ViewStore;
struct SinogramBand;

// Everything pointed to outlives the filter; pointers that may be null say so.
struct RowFilterSetup {
  const ScanGeometry* wide = nullptr;   // as rows are filtered and backprojected
  const FdkWeights* weights = nullptr;  // null: rows are filtered already, and go into the store as they are
  RampOptions ramp;
  std::int64_t columns = 0;                               // of the weighted rows; `wide` has zeros beside them
  std::int64_t columns_before = 0;                        // of the zeros, those to the left
  const std::vector<std::int64_t>* view_order = nullptr;  // positions of rows count along it

  // The frames.
  std::int64_t recorded_columns = 0;
  PixelType type = PixelType::f32;
  const Normalisation* normalisation = nullptr;            // null: they hold line integrals
  const std::vector<std::int64_t>* dead_pixels = nullptr;  // bridged along their row; null: none
  const RowResampler* resampler = nullptr;                 // null: frames have the rows that are filtered
  RowAudit* audit = nullptr;                               // null: nobody keeps account
};

// Rows of one view.
struct RowRequest {
  std::int64_t view = 0;      // of the scan
  std::int64_t position = 0;  // of that view in the order of summation
  std::int64_t slot = 0;      // of the store
  RowBand rows;               // as they are filtered
  RowBand recorded;           // of the frame: the same unless rows are resampled
  RowBand counted;            // of `rows`, those that were not asked for before
};

// With its recorded rows, one after the other, in the device's memory; they may be changed.
struct RowBlock {
  RowRequest request;
  std::byte* pixels = nullptr;
};

class RowFilter {
public:
  virtual ~RowFilter() = default;
  // For a projector whose views want the same rows (Projector::rows_alike): views one after the other in the order of
  // summation, with the same rows, whose pixels follow one another.
  virtual void filter(std::span<const RowBlock> blocks, ViewStore& store, Queue& queue) = 0;
  // The same rows out of a band of corrected ones in the device's memory, [row][view][column], resampled where the
  // setup has a resampler, to where filter() will find them. Only of devices that correct bands.
  virtual void take(const SinogramBand& /*corrected*/, std::span<const RowRequest> /*requests*/, std::byte* /*pixels*/,
                    Queue& /*queue*/) {
    throw Error(ErrorKind::internal,
                {.what = "this device holds no corrected rows", .where = "row filter", .why = {}, .hint = {}});
  }
  // What was found bad so far goes to the audit. When all work is done.
  virtual void report_bad_pixels() {}
};

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Rows of a scan that stand for all of it: groups of neighbouring rows of evenly spaced views, and what flats and darks
// say of the same pixels.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/cancel.h"
#include "core/memory.h"
#include "correct/beam/flat_series.h"
#include "geometry/row_band.h"
#include "io/frames.h"
#include "scan/scan.h"

namespace lepus {

class CountSample {
public:
  enum class Rows { some, all };  // all: of fewer views
  CountSample(const Scan& scan, Rows rows, const CancelFlag& cancel);

  const FrameSource& frames() const { return *frames_; }
  std::int64_t columns() const { return frames_->columns(); }
  const std::vector<std::int64_t>& views() const { return views_; }
  const std::vector<RowBand>& groups() const { return groups_; }  // each of at most four rows
  double saturation_level() const { return saturation_level_; }

  // What a pixel of a group has in the dark and, above it, in the open beam of a view: [row][column]. Line integrals: 0
  // and 1.
  const std::vector<float>& dark(std::size_t group) const { return dark_[group]; }
  std::vector<float> open_beam(std::size_t group, std::int64_t view) const;
  double saturated_flats() const { return saturated_flats_; }  // share of the flats' pixels
  double dark_to_open() const { return dark_to_open_; }        // the mean dark over the mean open beam

private:
  std::vector<float> mean_of(const FrameSource& source, RowBand rows, const CancelFlag& cancel) const;
  void read_calibration(const Scan& scan, const CancelFlag& cancel);
  void read_flat_series(const Scan& scan, const CancelFlag& cancel);

  std::unique_ptr<FrameSource> frames_;
  std::vector<std::int64_t> views_;
  std::vector<RowBand> groups_;
  std::vector<std::vector<float>> dark_, open_;
  std::vector<FlatSeries> flats_;  // of each group, where flats were taken at several times
  double saturation_level_ = 0, saturated_flats_ = 0, dark_to_open_ = 0;
};

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// A scan's line integrals after all its corrections, view by view, on the flat detector that its matrices describe: all
// rows, or over ranks (options.ranks) equal parts of them, in the order of the ranks.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "preprocess/arc_resample.h"
#include "run/corrected_frames.h"
#include "run/prepass.h"
#include <lepus/reconstruct.h>

namespace lepus {

// The same scan seen by some rows of its detector alone.
ScanGeometry with_rows(ScanGeometry geometry, RowBand rows);
// The flat detector that the matrices describe, where frames were recorded on an arc.
ScanGeometry without_arc(ScanGeometry geometry);

class LineIntegrals {
public:
  // output: the run's; what does not fit into the memory is kept beside it.
  LineIntegrals(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                Context& context);

  const ScanGeometry& whole_geometry() const { return flat_; }  // no arc
  const ScanGeometry& geometry() const { return part_; }        // of the rows that are here
  RowBand rows() const { return rows_; }                        // which these are
  std::int64_t values_per_view() const { return part_.rows * part_.columns; }
  const PrePass& pre_pass() const { return pre_; }
  const RowAudit& audit() const { return audit_; }

  // rows x columns, u fastest. Pixels that an arc detector does not cover are zero. For any thread.
  void view(std::int64_t view, std::span<float> out) const;
  // The same of all rows on the detector that recorded them; one process.
  void recorded_view(std::int64_t view, std::span<float> out) const;
  // 1 where a pixel of the flat detector was measured, 0 where not; empty: everywhere.
  const std::vector<float>& measured() const { return measured_; }
  // What each pixel counted in the open beam, over the mean of all; empty: all alike, or not known.
  std::vector<float> relative_intensity() const;

  // After the last view, by all ranks; gives the memory back. What the corrections did, and what the user should look
  // at; of all ranks on rank 0.
  std::vector<std::string> finish();
  std::vector<std::string> warnings() const;

private:
  void count_own_rows();

  const Scan& scan_;
  Ranks* ranks_;  // null: one process
  ScanGeometry flat_, part_;
  RowBand rows_;
  PrePass pre_;
  RowAudit audit_;
  std::unique_ptr<CorrectedFrames> corrected_;
  std::optional<ArcResampler> arc_;
  std::vector<float> measured_;
};

// The root mean square of the noise of line integrals whose photons are counted: the variance of each is c / exp(-p),
// and c is found from how much neighbours along rows differ from straight lines, the median of all views. A thousandth
// of the pixels that would say more than all others (dead ones) has no say.
class NoiseEstimate {
public:
  // Of so many views; bytes: that it takes.
  NoiseEstimate(std::int64_t views, std::int64_t values_per_view) {
    squares_.reserve(static_cast<std::size_t>(sample(views, values_per_view)));
  }
  static std::int64_t bytes(std::int64_t views, std::int64_t values_per_view) {
    return sample(views, values_per_view) * static_cast<std::int64_t>(sizeof(float));
  }
  // By whole numbers of p: below one, from one to two, ...
  struct Transmission {
    std::array<double, 64> values{}, inverse_sums{};
  };
  struct View {
    std::vector<float> squares;
    Transmission transmission;
  };
  // What a view says of it, for any thread. first: how many pixels of the view come before these, so that parts of
  // views have the same sample as whole ones.
  static View of_view(std::int64_t view, std::span<const float> line_integrals, std::int64_t columns,
                      std::int64_t first = 0);
  void add(const View& view);  // in the order of the views
  // Of line integrals, or of those that are weighted by exp(-p). By all ranks, of what all were given; null: one
  // process.
  double rms(bool weighted, Ranks* ranks) const;

private:
  float median(Ranks* ranks) const;
  double mean_inverse_transmission(Ranks* ranks) const;

  // Of the sample: a prime one, so that it is spread over rows and columns; others in every view.
  static constexpr std::int64_t step = 37;
  static std::int64_t sample(std::int64_t views, std::int64_t values_per_view) {
    return views * (values_per_view / step + 1);
  }

  std::vector<float> squares_;  // a sample
  Transmission transmission_;
};

}  // namespace lepus

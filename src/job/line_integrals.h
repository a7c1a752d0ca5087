// SPDX-License-Identifier: Apache-2.0
// A scan's line integrals after all its corrections, view by view, on the flat detector that its matrices describe.
#pragma once

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

class LineIntegrals {
public:
  // output: the run's; what does not fit into the memory is kept beside it.
  LineIntegrals(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                Context& context);

  const ScanGeometry& geometry() const { return flat_; }  // no arc
  std::int64_t values_per_view() const { return flat_.rows * flat_.columns; }
  const PrePass& pre_pass() const { return pre_; }
  const RowAudit& audit() const { return audit_; }

  // rows x columns, u fastest. Pixels that an arc detector does not cover are zero.
  void view(std::int64_t view, std::span<float> out);
  // 1 where a pixel of the flat detector was measured, 0 where not; empty: everywhere.
  const std::vector<float>& measured() const { return measured_; }
  // What each pixel counted in the open beam, over the mean of all; empty: all alike, or not known.
  std::vector<float> relative_intensity() const;

  // After the last view; gives the memory back. What the corrections did, and what the user should look at.
  std::vector<std::string> finish();
  std::vector<std::string> warnings() const;

private:
  const Scan& scan_;
  ScanGeometry flat_;
  PrePass pre_;
  RowAudit audit_;
  std::unique_ptr<CorrectedFrames> corrected_;
  std::optional<ArcResampler> arc_;
  std::vector<float> measured_, recorded_;
};

// The root mean square of the noise of line integrals whose photons are counted: the variance of each is c / exp(-p),
// and c is found from how much neighbours along rows differ from straight lines, the median of all views.
class NoiseEstimate {
public:
  void add(std::span<const float> line_integrals, std::int64_t columns);
  // Of line integrals, or of those that are weighted by exp(-p).
  double rms(bool weighted) const;

private:
  std::vector<float> squares_;  // a sample
  double inverse_transmission_ = 0;
  std::int64_t values_ = 0, views_ = 0;
};

}  // namespace lepus

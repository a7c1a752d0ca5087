// SPDX-License-Identifier: Apache-2.0
// "lag": what the detector keeps of earlier frames, taken out of grey levels by the inverse of a first-order model,
// pixel by pixel along the views (Hsieh et al., Proc. SPIE 3336, 1998, with one exponential).
#include <cmath>
#include <utility>

#include "core/format.h"
#include "correct/beam/beam.h"

namespace lepus {
namespace {

class Lag final : public Correction {
public:
  Lag(LagModel model, LagStart start, std::string summary)
      : model_(model), start_(start), summary_(std::move(summary)) {}

  bool needs_all_views() const override { return true; }

  BandOperation operation() const override { return BandOperation::lag; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    queue.device().band_kernels().remove_lag(band.sinograms(wanted), model_, start_, queue);
  }

  std::string summary() const override { return summary_; }

private:
  LagModel model_;
  LagStart start_;
  std::string summary_;
};

}  // namespace

std::unique_ptr<Correction> make_lag(const LagOptions& options, const ScanFacts& facts) {
  require_stage("lag", facts, Stage::grey_levels);
  const double fraction = options.fraction, decay = options.decay_frames;
  // The inverse filter's pole is (d - a) / (1 - a), d = exp(-1 / decay): inside the unit circle for any d where a <
  // 1/2.
  if (!(fraction >= 0 && fraction < 0.5))
    refuse("lag", format("fraction = {} cannot be undone", fraction),
           "where half of a frame is memory, noise grows from view to view", "measure it: it is a few per cent");
  if (!(decay > 0) || !std::isfinite(decay))
    refuse("lag", format("decay_frames = {}", decay), "the memory fades to 1/e in that many frames",
           "it must be positive");
  LagModel model;
  model.fraction = static_cast<float>(fraction);
  model.gain = static_cast<float>(1 / (1 - fraction));
  model.renewal = static_cast<float>(1 - std::exp(-1 / decay));
  return std::make_unique<Lag>(
      model, options.before,
      format("afterglow of {:.3g} % that fades to 1/e in {:.3g} frames removed", 100 * fraction, decay));
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// "phase": the parameters of Paganin's filter from the scan's geometry, and the link of the chain.
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "core/format.h"
#include "correct/beam/beam.h"
#include "device/host/band_kernels/phase.h"
#include "geometry/camera.h"
#include <lepus/math.h>

namespace lepus {
namespace {

class Phase final : public Correction {
public:
  Phase(const ScanFacts& facts, double a_v, double a_u, std::string summary)
      : plan_(facts.columns, facts.rows, a_v, a_u), summary_(std::move(summary)) {}

  RowBand rows_needed(RowBand wanted, std::int64_t) const override { return plan_.rows_needed(wanted); }

  bool needs_all_views() const override { return false; }

  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    return phase_scratch_floats(plan_, largest.rows.size()) * threads * static_cast<std::int64_t>(sizeof(float));
  }

  BandOperation operation() const override { return BandOperation::phase; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    kernel_for(queue, band.views).apply(band, wanted, queue);
  }

  std::string summary() const override { return summary_; }

private:
  PhaseKernel& kernel_for(Queue& queue, std::int64_t views) {
    const std::lock_guard lock(mutex_);
    auto& made = kernels_[&queue];
    if (!made) made = queue.device().band_kernels().make_phase(plan_, views);
    return *made;
  }

  PhasePlan plan_;
  std::string summary_;
  std::mutex mutex_;
  std::map<const Queue*, std::unique_ptr<PhaseKernel>> kernels_;
};

constexpr double wavelength_times_energy_mm_kev = 1.239841984e-6;  // h c

double positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value))
    refuse("phase", format("'{}' is {}", name, value), "it must be positive", "");
  return value;
}

}  // namespace

std::unique_ptr<Correction> make_phase(const PhaseOptions& options, const ScanFacts& facts) {
  require_stage("phase", facts, Stage::grey_levels);
  const double wavelength_mm = wavelength_times_energy_mm_kev / positive("energy_kev", options.energy_kev);
  const double ratio = positive("delta_over_beta", options.delta_over_beta);
  if (!facts.geometry) refuse("phase", "the geometry is not known", "pixels are counted at the rotation axis", "");
  const Camera camera = camera_of(*facts.geometry, 0);
  const bool parallel = facts.geometry->beam == Beam::parallel;
  const double source_axis = parallel ? 0 : source_axis_mm(camera);
  double distance = 0;
  if (options.distance_mm) {
    distance = positive("distance_mm", *options.distance_mm);
  } else {
    distance = parallel ? 0 : facts.geometry->source_detector_mm - source_axis;
    if (!(distance > 0))
      refuse("phase", "distance_mm is not given", "the geometry does not say how far the detector is from the axis",
             "give distance_mm, from the rotation axis to the detector");
  }
  // A cone beam magnifies: it is as if the waves had gone z1 z2 / (z1 + z2) in a parallel beam (Fresnel's scaling).
  const double effective = parallel ? distance : source_axis * distance / (source_axis + distance);
  const PixelPitch pitch = pitch_at_axis(camera);
  const double strength = pi * wavelength_mm * effective * ratio;  // mm^2
  const double a_v = strength / (pitch.height_mm * pitch.height_mm), a_u = strength / (pitch.width_mm * pitch.width_mm);
  if (!(std::sqrt(a_v) / (2 * pi) < 1e4) || !(std::sqrt(a_u) / (2 * pi) < 1e4))
    refuse(
        "phase", "the filter would blur over more than 10000 pixels",
        format("pi lambda R delta/beta is {:.3g} mm^2 with pixels of {:.3g} mm at the axis", strength, pitch.width_mm),
        "check energy_kev, distance_mm and delta_over_beta");
  return std::make_unique<Phase>(
      facts, a_v, a_u,
      format("Paganin's filter, effective distance {:.4g} mm, decays to 1/e in {:.3g} pixels ({} rows of halo)",
             effective, std::sqrt(a_v) / (2 * pi), phase_halo(a_v)));
}

}  // namespace lepus

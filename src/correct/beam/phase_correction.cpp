// SPDX-License-Identifier: Apache-2.0
// "phase": the parameters of Paganin's filter from the scan's geometry, and the link of the chain.
#include <cmath>
#include <utility>

#include "core/format.h"
#include "correct/beam/beam.h"
#include "correct/beam/phase.h"
#include "geometry/camera.h"
#include <lepus/math.h>
#if LEPUS_HAVE_CUDA
#include <map>
#include <mutex>

#include "device/cuda/cuda_check.h"
#include "correct/beam/phase_device.h"
#endif

namespace lepus {
namespace {

class Phase final : public Correction {
public:
  Phase(const ScanFacts& facts, double a_v, double a_u, std::string summary)
      : plan_(facts.columns, facts.rows, a_v, a_u), transform_(plan_), summary_(std::move(summary)) {}

  RowBand rows_needed(RowBand wanted, std::int64_t) const override { return plan_.rows_needed(wanted); }

  bool needs_all_views() const override { return false; }

  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    return transform_.scratch_floats(largest.rows.size()) * threads * static_cast<std::int64_t>(sizeof(float));
  }

  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) override {
    transform_.apply(band, wanted, threads);
  }

  void apply_on_device([[maybe_unused]] const SinogramBand& band, [[maybe_unused]] RowBand wanted,
                       [[maybe_unused]] cuda::Workspace& workspace) override {
#if LEPUS_HAVE_CUDA
    device_for(workspace.stream(), band.views).apply(band, wanted, workspace);
#else
    no_device_here("phase");
#endif
  }

  std::string summary() const override { return summary_; }

private:
  PhasePlan plan_;
  PhaseTransform transform_;
  std::string summary_;
#if LEPUS_HAVE_CUDA
  // Plans and twiddles belong to a device, and a plan to one stream at a time.
  cuda::PhaseDevice& device_for(cudaStream_t stream, std::int64_t views) {
    int device = 0;
    cuda::check(cudaGetDevice(&device), "ask for the current device");
    const std::lock_guard lock(mutex_);
    auto& made = devices_[{device, stream}];
    if (!made) made = std::make_unique<cuda::PhaseDevice>(plan_, views);
    return *made;
  }

  std::mutex mutex_;
  std::map<std::pair<int, cudaStream_t>, std::unique_ptr<cuda::PhaseDevice>> devices_;
#endif
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

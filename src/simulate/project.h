// SPDX-License-Identifier: Apache-2.0
// What the detector would measure of a phantom: exact line integrals to every recorded pixel of a view, averaged over
// the pixel and the source's spot, of one energy or a spectrum. Double precision inside, float out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/context.h"
#include "core/threads.h"
#include "geometry/arc.h"
#include "geometry/camera.h"
#include "simulate/phantom.h"
#include <lepus/geometry.h>
#include <lepus/simulate.h>

namespace lepus {

// Recorded pixels of a frame: those of the arc where there is one.
std::int64_t recorded_columns(const ScanGeometry& geometry);
std::int64_t recorded_rows(const ScanGeometry& geometry);

class PhantomProjector {
public:
  // Keeps references to phantom and geometry. With a spectrum the average is that of intensities. Values without a
  // material then stand for water of a density such that they hold at phantom.energy_kev().
  PhantomProjector(const Phantom& phantom, const ScanGeometry& geometry, const PixelRays& options,
                   const Spectrum& spectrum = {});

  // All recorded pixels of a view, columns fastest: p = -ln(I / I0).
  // `cancel` is asked before every row.
  void project(std::int64_t view, float* line_integrals, ThreadPool& threads, const CancelFlag* cancel = nullptr) const;
  // What project() is made of, for a machine that traces the rays itself: use(ray) for those of a pixel, in their
  // order, and what the detector measures of them. A ray's `groups()` integrals are the line integral itself, or with a
  // spectrum those of every material.
  std::int64_t rays_of_pixel() const;
  template <class Use>
  void each_ray(const Camera& camera, double u, double v, const Use& use) const;
  std::size_t groups() const { return weights_.empty() ? 1 : material_slots; }
  double measured(const double* integrals) const;
  const Phantom& phantom() const { return phantom_; }
  const ScanGeometry& geometry() const { return geometry_; }

  // One pixel, u and v in recorded pixels; the same number as project's before rounding to float.
  double at(const Camera& camera, double u, double v, Phantom::Scratch& scratch) const;
  // The ray from the middle of the source to a point of the detector.
  Ray ray(const Camera& camera, double u, double v) const;

private:
  struct SpotPoint {
    double u = 0, v = 0;  // mm
  };
  Ray ray_from_spot(const Camera& camera, double u, double v, SpotPoint offset) const;
  double contribution(const double* integrals) const;  // of a ray to the mean over its pixel
  double mean(double sum) const;

  const Phantom& phantom_;
  const ScanGeometry& geometry_;
  PixelRays options_;
  std::optional<ArcMap> arc_;
  bool averages_intensity_ = false;
  std::vector<SpotPoint> spot_;
  std::vector<double> weights_;           // of the spectrum
  std::vector<MaterialIntegrals> table_;  // of the spectrum: what each integral is multiplied by
};

template <class Use>
void PhantomProjector::each_ray(const Camera& camera, double u, double v, const Use& use) const {
  const int n = options_.subpixels;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const double uu = u + (i + 0.5) / n - 0.5, vv = v + (j + 0.5) / n - 0.5;
      if (spot_.empty()) use(ray(camera, uu, vv));
      for (const SpotPoint& point : spot_) use(ray_from_spot(camera, uu, vv, point));
    }
}

}  // namespace lepus

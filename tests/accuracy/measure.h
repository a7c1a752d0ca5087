// SPDX-License-Identifier: Apache-2.0
// One row of the accuracy table: a phantom is projected exactly, reconstructed and compared with itself.
#pragma once

#include <string>
#include <vector>

#include "core/threads.h"
#include "scan_cases.h"
#include "simulate/phantom.h"

namespace lepus::accuracy {

// Bars of the table; relative numbers.
inline constexpr double ball_mean_bar = 2e-3, cupping_bar = 5e-3;
inline constexpr double integral_bar_full = 3e-3, integral_bar_short = 2e-2, interior_bar = 1e-2;
inline constexpr double short_scan_loss_bar_db = 1;

struct BallQuality {
  double mean_error = 0;   // of the mid-plane, three voxels from the edge, relative
  double cupping = 0;      // outer ring minus centre of the mid-plane, relative
  double whole_error = 0;  // mean over the whole ball, three voxels from the edge, relative
};

struct EllipsoidQuality {
  double integral_error = 0;          // relative
  double interior_rms = 0;            // relative to the body's contrast
  double interior_rms_mid_plane = 0;  // of those voxels, the ones in the slice z = 0
  double whole_error = 0;             // |difference| / |truth| over all voxels that are compared
  double mid_plane_psnr = 0;          // dB, peak = largest value of the truth
};

Phantom ellipsoids();
inline constexpr double body_value = 0.02;  // 1/mm: the contrast of the ellipsoid phantom; also the ball's value

// Exact line integrals, averaged over n x n rays to a pixel: views x rows x columns, as lepus::fdk takes them.
std::vector<float> projections(const Phantom& phantom, const ScanGeometry& geometry, int subpixels,
                               ThreadPool& threads);

BallQuality measure_ball(const ScanCase& scan, ThreadPool& threads);
EllipsoidQuality measure_ellipsoids(const ScanCase& scan, ThreadPool& threads);

inline double integral_bar(const ScanCase& scan) {
  return scan.coverage == CoverageKind::short_scan ? integral_bar_short : integral_bar_full;
}

}  // namespace lepus::accuracy

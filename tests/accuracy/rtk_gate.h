// SPDX-License-Identifier: Apache-2.0
// RTK's own gate for FDK (its rtkfdktest): Shepp-Logan scaled by 116, a source off the central ray, 180 views.
#pragma once

#include "core/threads.h"

namespace lepus::accuracy {

inline constexpr double rtk_mean_error_bar = 0.03, rtk_psnr_bar = 26, rtk_peak = 2;

struct RtkGate {
  double mean_absolute_error = 0, psnr = 0;              // over the voxels that every view sees
  double whole_mean_absolute_error = 0, whole_psnr = 0;  // as RTK counts: all voxels, those not seen set to zero
  double seen = 0;                                       // share of the voxels that every view sees
};

RtkGate measure_rtk_gate(ThreadPool& threads);

}  // namespace lepus::accuracy

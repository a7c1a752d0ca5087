// SPDX-License-Identifier: Apache-2.0
// The formulas of lag and beam hardening for one value, written once for host and device. Compiled without contraction
// of a*b+c on either side, so that both give the same bits.
#pragma once

#include <cstdint>

#include "project/host_device.h"

namespace lepus {

// First-order afterglow: measured = (1 - fraction) truth + fraction * state, and after every frame the state moves
// towards the truth, state += renewal (truth - state), with renewal = 1 - exp(-1 / decay in frames).
struct LagModel {
  float fraction = 0;
  float gain = 1;  // 1 / (1 - fraction)
  float renewal = 1;
};

// The detector's memory when the first frame was taken.
enum class LagStart { first_frame, open_beam, dark };

LEPUS_HD inline float lag_start(LagStart start, float first) {
  return start == LagStart::first_frame ? first : start == LagStart::open_beam ? 1.0F : 0.0F;
}

// The truth of a frame; `state` becomes that of the next frame.
LEPUS_HD inline float without_lag(const LagModel& model, float measured, float& state) {
  const float truth = (measured - model.fraction * state) * model.gain;
  state = state + model.renewal * (truth - state);
  return truth;
}

// p' = c1 p + c2 p^2 + ... for p in [0, limit]; straight lines with the curve's own slopes below and above, where noise
// goes and where nothing was measured.
struct HardeningCurve {
  static constexpr int terms = 6;
  float c[terms] = {1, 0, 0, 0, 0, 0};  // of p, p^2, ...
  float limit = 0;
  float slope = 1;  // at the limit
};

LEPUS_HD inline float linearised(const HardeningCurve& curve, float p) {
  const float below = p < curve.limit ? p : curve.limit;
  const float q = below > 0.0F ? below : 0.0F;
  float sum = curve.c[5];
  sum = sum * q + curve.c[4];
  sum = sum * q + curve.c[3];
  sum = sum * q + curve.c[2];
  sum = sum * q + curve.c[1];
  sum = sum * q + curve.c[0];
  return sum * q + (p - q) * (p > 0.0F ? curve.slope : curve.c[0]);
}

}  // namespace lepus

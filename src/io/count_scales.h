// SPDX-License-Identifier: Apache-2.0
// What counts are multiplied with so that frames, flats and darks of different exposures can be compared: exposure
// time, tube current, gain, or a file that was rescaled.
#pragma once

namespace lepus {

struct CountScales {
  double frames = 1, flats = 1, darks = 1;

  // p = ln(F flats - D darks) - ln(I frames - D darks) = ln((F flats - D darks) / frames) - ln(I - D darks / frames):
  // everything is brought to the scale of the recorded frames, which then need no factor of their own.
  float dark(float mean_dark) const { return static_cast<float>(static_cast<double>(mean_dark) * (darks / frames)); }
  float flat(float mean_flat) const { return static_cast<float>(static_cast<double>(mean_flat) * (flats / frames)); }
};

}  // namespace lepus

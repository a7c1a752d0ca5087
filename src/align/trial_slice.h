// SPDX-License-Identifier: Apache-2.0
// A trial reconstruction from one detector row, as a fan (or parallel) beam slice: weights and ramp filter of FDK, then
// backprojection of only those pixels that are asked for. One row of line integrals -> values in 1/mm.
#pragma once

#include "align/axis_line.h"
#include "align/center.h"

namespace lepus {

// Pixels start + i * step, i = 0 ... count-1, in mm in the plane of the slice.
struct PixelLine {
  Vec3 start_mm, step_mm;
  std::int64_t count = 0;
};

struct TrialSetup {
  const CenterInput* input = nullptr;
  std::int64_t band = 0;
  double column = 0;     // where the axis crosses the middle row
  double angle_rad = 0;  // AxisLine::angle_rad
};

// False where no slice can be made with the axis there: far to one side of a short scan's detector half of the object
// was never seen.
bool trial_is_possible(const CenterInput& input, double column, double angle_rad);

// One vector per line. The sums over the views have a fixed order: the same bits for any number of threads.
std::vector<std::vector<float>> trial_lines(const TrialSetup& setup, const std::vector<PixelLine>& lines,
                                            Context& context);

// The square that the trial image covers: half of its side, and pixels along it.
struct TrialFrame {
  double half_mm = 0;
  std::int64_t size = 0;
  double pixel_mm() const { return 2 * half_mm / static_cast<double>(size); }
  double position_mm(std::int64_t i) const { return -half_mm + (static_cast<double>(i) + 0.5) * pixel_mm(); }
  std::vector<PixelLine> rows() const;
};
TrialFrame trial_frame(const CenterInput& input);

}  // namespace lepus

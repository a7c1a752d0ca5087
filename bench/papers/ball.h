// SPDX-License-Identifier: Apache-2.0
// The scans that the papers' reconstructions are made from: a ball beside the axis of any volume, thousands of views of
// it in a moment, and how wrong a volume of it is.
#pragma once

#include <cstdint>

#include "bench/suite/known_scan.h"
#include "core/threads.h"
#include <lepus/geometry.h>

namespace lepus::bench {

// A third of the volume's half width in radius, beside the axis in the plane of the orbit: FDK is exact there.
KnownBall ball_in(const VolumeGrid& grid);

// What fill_ball_counts writes, but with a few operations per pixel: papers have up to 6e9 of them.
void fill_many_ball_counts(const ScanGeometry& geometry, const KnownBall& ball, std::uint16_t* counts,
                           ThreadPool& threads);

// Of the slice through the ball's centre: the mean in the ball, away from its rim, over its density, minus 1; or the
// mean of a ring around it over the density, whichever is larger. NaN where a voxel is.
double ball_error(const float* volume, const VolumeGrid& grid, const KnownBall& ball);

}  // namespace lepus::bench

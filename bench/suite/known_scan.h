// SPDX-License-Identifier: Apache-2.0
// A scan whose result is known: a ball of one density, 16-bit counts of an open beam of 60000, on the C-arm of
// synthetic.h. The ball stands beside the axis: what turns about its own centre looks the same in all views, like a
// ring.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/threads.h"
#include "io/frames.h"
#include "preprocess/normalise.h"
#include <lepus/geometry.h>

namespace lepus::bench {

struct KnownBall {
  Vec3 centre_mm{18, -12, 0};
  double radius_mm = 40, density = 0.02;  // 1/mm
};
inline constexpr double known_open_beam = 60000;

// Line integral of the ball along the ray to a pixel of the ideal (not perturbed) scan.
double ball_line(const CircularScan& scan, const KnownBall& ball, double angle_rad, std::int64_t column,
                 std::int64_t row);
// Counts of all views, [view][row][column].
void fill_ball_counts(const CircularScan& scan, const KnownBall& ball, std::uint16_t* counts, ThreadPool& threads);
// Mean of the middle slice within 0.8 of the ball's radius, over its density: 1 where the reconstruction is right. The
// volume is x fastest.
double density_found(const float* volume, const VolumeGrid& grid, const KnownBall& ball);
// How far from 1 it may be: FDK in the middle plane is exact but for sampling. 0.0003 to 0.002 was measured from 128
// and 496 views at 64^3 to 512^3 on the scans of bench/fdk.cpp and bench/cuda_fdk.cpp, corrections included.
inline constexpr double density_limit = 0.005;
// Of the suite's own scan: 2e-4 at 16^3, 1e-4 at 40^3, 3e-5 at 64^3 and 128^3, 4e-7 to 8e-6 from 256^3 on; three times
// the largest.
inline constexpr double suite_density_limit = 6e-4;

Normalisation ball_normalisation(const CircularScan& scan);

// 16-bit frames that lie in somebody else's memory.
class CountsInMemory final : public FrameSource {
public:
  CountsInMemory(const CircularScan& scan, const std::uint16_t* counts);
  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return views_; }
  PixelType pixel_type() const override { return PixelType::u16; }
  std::string name(std::int64_t frame) const override;
  const void* in_memory(std::int64_t frame, std::int64_t row0) const override;
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override;

private:
  std::int64_t columns_, rows_, views_;
  const std::uint16_t* counts_;
};

}  // namespace lepus::bench

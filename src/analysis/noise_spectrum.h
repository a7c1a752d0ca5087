// SPDX-License-Identifier: Apache-2.0
// The power spectrum of noise, averaged over blocks and over directions: (dx dy dz / n^3) |DFT(values - plane)|^2 of
// blocks of n^3 voxels, in shells of frequencies 1 / (n d) wide, up to 1 / (2 d) for the finest step d.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/work_memory.h"
#include "core/context.h"
#include "io/volume_file.h"

namespace lepus::analysis {

class NoiseSpectrum {
public:
  NoiseSpectrum(std::int64_t edge, Vec3 step_mm);

  // Blocks that begin at all combinations of these x, y and z. Summed in their order, whatever the memory and threads.
  void add(const VolumeReader& volume, const std::array<std::vector<std::int64_t>, 3>& starts, WorkMemory& memory,
           Context& context);

  std::int64_t blocks() const { return blocks_; }
  std::vector<double> per_mm() const;     // of each shell; that of frequency 0 has none, a plane was taken off
  std::vector<double> power_mm3() const;  // value^2 mm^3

private:
  std::int64_t edge_;
  Vec3 step_mm_;
  double shell_per_mm_;
  std::vector<std::int32_t> shell_of_;  // of every coefficient of the half spectrum; -1: none
  std::vector<double> coefficients_;    // in each shell
  std::vector<double> sums_;            // of |DFT|^2 in each shell, over all blocks
  std::int64_t blocks_ = 0;
};

}  // namespace lepus::analysis

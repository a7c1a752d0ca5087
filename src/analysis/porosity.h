// SPDX-License-Identifier: Apache-2.0
// How much of a region a phase fills: in all, slice by slice, and in cells of a grid (the porosity map); open where it
// is connected with the border of the region, closed where it is not.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/components.h"

namespace lepus::analysis {

struct CellCounts {
  std::int64_t edge = 0;                    // voxels along a cell; the last cells may be cut off
  std::int64_t nx = 0, ny = 0, nz = 0;      // cells
  std::vector<std::int64_t> inside, phase;  // voxels in each, x fastest
};

struct Porosity {
  std::int64_t inside = 0, phase = 0;
  std::int64_t open = 0;  // of the phase
  std::vector<std::int64_t> slice_inside, slice_phase;
  CellCounts cells;

  std::int64_t closed() const { return phase - open; }
  double share(std::int64_t voxels) const { return static_cast<double>(voxels) / static_cast<double>(inside); }
};

// `phase` lies inside. `touched` of its components (see border_touching) tells what is open.
Porosity measure_porosity(const BitVolume& phase, const BitVolume& inside, const Components& components,
                          const std::vector<std::uint8_t>& touched, std::int64_t cell_edge, Context& context);

// touched[number] = 1 for components with a voxel that has a face on the border of the region or of the volume.
std::vector<std::uint8_t> border_touching(const Components& components, const BitVolume& inside, Context& context);

}  // namespace lepus::analysis

// SPDX-License-Identifier: Apache-2.0
// Parting blobs that touch: every peak of the distance to the border that stands high enough above the pass to a higher
// peak becomes a blob of its own, and grows downhill until it meets its neighbours (Meyer 1994).
// The order is fixed: higher first, then who came first, peaks in the order of their voxels. Given the same markers,
// the labels are those of scikit-image's watershed of the negative distance; where markers are equally high, that one's
// order is not defined.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/distance.h"
#include "analysis/label_source.h"

namespace lepus::analysis {

// Offsets of the neighbours in the order in which they are visited: scikit-image's, the nearest first.
std::vector<std::array<int, 3>> neighbour_offsets(Connectivity connectivity);

// Voxels (indices, x fastest) of the peaks of components, ascending: of two peaks that are connected above a level, the
// lower one counts only where it is `depth` higher than that level, in the unit of the distance.
template <class T>
std::vector<std::int64_t> find_peaks(const T* squared_distances, const VolumeSize& size, Connectivity connectivity,
                                     double depth);

// Labels 1, 2, ... of the markers, grown over all voxels with a distance above zero that they reach.
template <class T>
void grow_markers(const T* squared_distances, const VolumeSize& size, Connectivity connectivity,
                  const std::vector<std::int64_t>& markers, Label* labels);

struct WatershedOptions {
  Connectivity connectivity = Connectivity::corners;
  double depth = 1;  // of a pass below the lower of its two peaks, in edges of a voxel
};

// In memory: 9 bytes a voxel of the volume and 24 a voxel of the phase. Labels are numbered by their first voxel.
ArrayLabels part_blobs(const BitVolume& bits, const SquaredSteps<double>& steps, bool cubes,
                       const WatershedOptions& options, WorkMemory& memory, Context& context);

}  // namespace lepus::analysis

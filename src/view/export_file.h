// SPDX-License-Identifier: Apache-2.0
// Files that the page downloads: a part of the volume, its surface. Each is made on disk, in the system's folder for
// temporary files, and sent from there, so that none has to fit into memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "view/volume_requests.h"

namespace lepus::view {

// "mha", "tif", "npy"; voxels x0, x1, y0, y1, z0, z1.
Answer export_crop(const OpenedVolume& volume, const std::array<std::int64_t, 6>& box, const std::string& kind,
                   const Workplace& workplace);
// "stl", "ply", of the values above the threshold.
Answer export_surface(const OpenedVolume& volume, const std::array<std::int64_t, 6>& box, double threshold,
                      const std::string& kind, const Workplace& workplace);

}  // namespace lepus::view

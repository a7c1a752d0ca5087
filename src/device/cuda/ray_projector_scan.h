// SPDX-License-Identifier: Apache-2.0
// A scan as the transposes' kernels want it: its faces, in the order in which they are summed.
#pragma once

#include <vector>

#include "device/cuda/ray_projector_faces.h"
#include "device/forward_project_job.h"

namespace lepus::cuda {

// View after view, and of each the axes that its rays may run along.
std::vector<Face> faces_of(const ForwardJob& job);

// Of voxels that are counted from the grid's middle.
std::vector<Matrix34> matrices_from_middle(const ScanGeometry& geometry, const VolumeGrid& grid,
                                           const JosephGrid& joseph);

PictureFrame picture_frame(const ScanGeometry& geometry);  // of all rows
std::vector<PictureFace> picture_faces(const ForwardJob& job, const std::vector<Face>& faces,
                                       const std::vector<Matrix34>& matrices, Beam beam);

}  // namespace lepus::cuda

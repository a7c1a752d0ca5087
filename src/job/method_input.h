// SPDX-License-Identifier: Apache-2.0
// From the scan file's [method] to what iterative methods take: options, the grid that is iterated, volumes from files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/volume_file.h"
#include "iterative/problem.h"
#include "scan/scan.h"
#include <lepus/operator.h>

namespace lepus {

// Throws Error(input) where the scan file says how to iterate and neither it nor the command by which method.
void require_named_method(const Scan& scan);
// Throws Error(usage) for choices that the method does not have. `noise`: root mean square, where it is known.
// Of the choices for another method, those that this one has; `left_out` gets the keys of the others.
MethodSettings choices_for(const std::string& method, const MethodSettings& all, std::vector<std::string>& left_out);
MethodOptions method_options(const MethodSettings& settings, std::int64_t views, double noise);
// All that must be the same to go on from a saved state: not how long, nor when it is saved.
MethodSettings resumable_settings(const MethodSettings& settings, std::int64_t subsets);
RayModel ray_model(const std::string& name);    // throws Error(usage) where there is none of that name
bool uses_fdk(const MethodSettings& settings);  // at its start or in every iteration

// The grid with `extend` of it more at both ends of every axis, whole voxels; and where the grid lies in it. Throws
// Error(usage) unless that is three shares as the scan file takes them.
struct ExtendedGrid {
  VolumeGrid grid;
  std::int64_t x = 0, y = 0, z = 0;  // voxels before the given grid
};
ExtendedGrid extended_grid(const VolumeGrid& grid, const std::vector<double>& extend);

// The volumes that [method] names can be read and are of the scan's grid, as far as their files know it; those that are
// iterated with are in 1/mm. Throws Error(input).
void require_volumes(const Scan& scan);
// take(z, voxels) of all slices of the extended grid, `beyond` where the volume is not. Throws Error(input) where it is
// of another grid, or a voxel is not a number.
void read_volume_for(const std::string& file, const VolumeGrid& grid, const ExtendedGrid& extended, float beyond,
                     const std::function<void(std::int64_t, std::span<float>)>& take);
std::vector<double> view_angles(const ScanGeometry& geometry);

}  // namespace lepus

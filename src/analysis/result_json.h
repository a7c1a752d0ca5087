// SPDX-License-Identifier: Apache-2.0
// Results of an analysis as JSON and back, to the bit: as CBOR, which has every double, for the next start of a run
// that was ended (analysis/staged.h).
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "analysis/analyze.h"

namespace nlohmann {
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) {
    if (value)
      j = *value;
    else
      j = nullptr;
  }
  static void from_json(const json& j, std::optional<T>& value) {
    value = j.is_null() ? std::nullopt : std::optional<T>(j.get<T>());
  }
};
}  // namespace nlohmann

namespace lepus {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Vec3, x, y, z)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Matrix3, m)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueSummary, smallest, largest, mean)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Comparison, voxels, not_finite, reference, volume, rmse, mae, bias, maximum_error,
                                   at_x, at_y, at_z, peak, nrmse, psnr_db, ssim, ssim_mode)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SliceRequest, axis, index)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Slice, request, position_mm, width, height, pixel_width_mm, pixel_height_mm, values)
}  // namespace lepus

namespace lepus::analysis {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Survey, voxels, not_finite, inside, smallest, largest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Histogram, low, width, integers, counts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VoxelBox, first, last)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NoiseResult, box, found, mean, spread, contrast, blocks, edge, per_mm, power_mm3)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Cylinder, point_mm, direction, radius_mm, uneven_mm, first_slice, last_slice)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ResolutionResult, found, cylinder, inner, outer, distance_mm, edge, per_mm, transfer,
                                   half_per_mm, tenth_per_mm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RigidMotion, rotation, centre_mm, shift_mm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Registration, motion, gain, offset, correlation, overlap, iterations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AgainstResult, registration, comparison, scaled, first, other)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Alignment, motion, typical_mm, points, iterations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NominalResult, threshold, alignment, points, area_mm2, mean_mm, spread_mm,
                                   smallest_mm, largest_mm, percentile_5_mm, median_mm, percentile_95_mm, within,
                                   bin_mm, bin_share, views)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PhaseResult, thresholds, voxels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SampleReport, air, container, specks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueStatistics, voxels, mean, spread)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CellCounts, edge, nx, ny, nz, inside, phase)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Porosity, inside, phase, open, slice_inside, slice_phase, cells)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Blob, label, voxels, volume_mm3, surface_mm2, diameter_mm, sphericity, first, last,
                                   centroid_mm, axes_mm, directions, mean, spread, open)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ThicknessResult, mean_mm, spread_mm, largest_mm, balls, bin_mm, voxels)
}  // namespace lepus::analysis

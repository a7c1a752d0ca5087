// SPDX-License-Identifier: Apache-2.0
// Volume files into others: a volume into another format, a part of it, other axes or Hounsfield units; its
// surface as triangles. Volumes are read and written piece by piece, so that none needs to fit into memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/export.h>
#include <lepus/geometry.h>
#include <lepus/output_values.h>

namespace lepus {

// Which voxels of a volume are taken, counted from 0; what is empty takes all.
struct VoxelSelection {
  std::vector<std::int64_t> slices = {};  // the first and the last
  std::vector<std::int64_t> crop = {};    // of each slice: x0, x1, y0, y1, with x1 and y1 just outside
};

struct VolumeConversionOptions {
  VoxelSelection part;  // in the axes of the output
  // Axes of the files, the fastest first: "x,z,-y", or "rtk", "itk", "dicom", "lepus". Where they are "", those of the
  // input are as it notes them, or x,y,z, and those of the output x,y,z.
  std::string input_axes, output_axes;
  std::optional<double> water_per_mm;  // attenuation of water in 1/mm: values become HU; none: they stay
  OutputValues stored;
  // An unfinished run of the same conversion is gone on with (docs/restart.md) where there is one; there must be one,
  // or it is thrown away:
  bool resume = false, restart = false;
  Call call;
};

struct VolumeConversionReport {
  VolumeGrid grid;   // of the output
  std::string axes;  // of the output: "x,y,z"
};

// The ending of the output chooses its format; places of voxels, their unit and the provenance are kept.
LEPUS_API VolumeConversionReport convert_volume(const std::filesystem::path& input, const std::filesystem::path& output,
                                                const VolumeConversionOptions& options = {});

struct SurfaceFileOptions {
  VoxelSelection part;     // what is beside it is outside; in lepus' axes
  std::string input_axes;  // as VolumeConversionOptions has them
  Call call;
};

struct SurfaceReport {
  std::int64_t vertices = 0, triangles = 0;
  double area_mm2 = 0, volume_mm3 = 0;
};

// The surface of what is brighter than the threshold, closed at the volume's ends too, in millimetres and in lepus'
// axes: marching cubes into a binary .stl or .ply. Throws Error(input) where no voxel is brighter.
LEPUS_API SurfaceReport write_surface(const std::filesystem::path& volume, const std::filesystem::path& surface,
                                      double threshold, const SurfaceFileOptions& options = {});

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Files of one kind into others: a volume into another format, a part of it, other axes or Hounsfield units; its
// surface as triangles; a scan into another form; a scan's geometry as other tools read it. Volumes and frames are read
// and written piece by piece, so that none needs to fit into memory.
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
  VoxelSelection part = {};  // in the axes of the output
  // Axes of the files, the fastest first: "x,z,-y", or "rtk", "itk", "dicom", "lepus". Where they are "", those of the
  // input are as it notes them, or x,y,z, and those of the output x,y,z.
  std::string input_axes = {}, output_axes = {};
  std::optional<double> water_per_mm = {};  // attenuation of water in 1/mm: values become HU; none: they stay
  OutputValues stored = {};
  // An unfinished run of the same conversion is gone on with (docs/restart.md) where there is one; there must be one,
  // or it is thrown away:
  bool resume = false, restart = false;
  Call call = {};
};

struct VolumeConversionReport {
  VolumeGrid grid;   // of the output
  std::string axes;  // of the output: "x,y,z"
};

// The ending of the output chooses its format; places of voxels, their unit and the provenance are kept.
LEPUS_API VolumeConversionReport convert_volume(const std::filesystem::path& input, const std::filesystem::path& output,
                                                const VolumeConversionOptions& options = {});

struct SurfaceFileOptions {
  VoxelSelection part = {};     // what is beside it is outside; in lepus' axes
  std::string input_axes = {};  // as VolumeConversionOptions has them
  Call call = {};
};

struct SurfaceReport {
  std::int64_t vertices = 0, triangles = 0;
  double area_mm2 = 0, volume_mm3 = 0;
};

// The surface of what is brighter than the threshold, closed at the volume's ends too, in millimetres and in lepus'
// axes: marching cubes into a binary .stl or .ply. Throws Error(input) where no voxel is brighter.
LEPUS_API SurfaceReport write_surface(const std::filesystem::path& volume, const std::filesystem::path& surface,
                                      double threshold, const SurfaceFileOptions& options = {});

enum class ScanForm { tiff, stack, hdf5, raw };  // of its frames: a TIFF each, a TIFF of all, HDF5, raw

struct ScanConversionOptions {
  ScanForm form = ScanForm::tiff;
  bool sinograms = false;  // an image is a detector row in all views; else a view
  // As for volumes.
  bool resume = false, restart = false;
  Call call = {};  // force: what has the name of something new in the folder is replaced
};

struct ScanConversionReport {
  std::filesystem::path scan_file;  // that names the new files
  std::int64_t views = 0, columns = 0, rows = 0;
};

// The same frames, flats and darks in other files, all other files that the scan file names, and a scan.toml of them.
// Values do not change.
LEPUS_API ScanConversionReport convert_scan(const std::filesystem::path& scan_file, const std::filesystem::path& folder,
                                            const ScanConversionOptions& options = {});

// "rtk", "astra", "tigre", "matrices": tools and their files, as docs/geometry.md describes them.
LEPUS_API std::vector<std::string> geometry_formats();

// The geometry of the scan's views for such a tool; returns how many views these are. Where the scan file has
// center = "auto", the axis is found first. Throws Error(unsupported) where the format cannot hold the scan.
LEPUS_API std::int64_t write_scan_geometry(const std::filesystem::path& scan_file, const std::filesystem::path& file,
                                           const std::string& format, const Call& call = {});

}  // namespace lepus

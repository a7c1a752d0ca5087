// SPDX-License-Identifier: Apache-2.0
// Geometry files of other tools: RTK's XML, ASTRA's vectors, TIGRE's parameters, plain matrices. docs/geometry.md says
// how each one's axes map to ours. Files that lepus wrote hold all that is needed to read them back; for others, what
// the format does not say comes from GeometryFileOptions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/convert.h>
#include <lepus/geometry.h>

namespace lepus {

struct GeometryFileOptions {
  std::int64_t columns = 0, rows = 0;              // of the frames; 0: the file says it (tigre always does)
  double pixel_width_mm = 0, pixel_height_mm = 0;  // rtk: the frames' spacing; other formats hold it. Written: the
                                                   // width alone counts; 0: that of view 0 at source_detector_mm
  // rtk and tigre describe the detector with y or z upwards; frames made for them have row 0 at the bottom. Set this
  // where the frames have row 0 on top.
  std::optional<bool> first_row_on_top;
  std::optional<Vec3> first_pixel_mm;     // rtk: detector coordinates (x, y) of pixel (0, 0); default: frame centred
  std::optional<Beam> beam;               // astra, matrices: default cone
  double unit_mm = 0;                     // astra: the length of its unit (its voxel); 0: what the file says, or 1 mm
  double source_detector_mm = 0;          // matrices: as they do not tell it; 0: what the file says, or unknown
  std::optional<VolumeGrid> voxel_index;  // matrices: they map voxel indices of this grid, not millimetres
  bool force = false;                     // writing: overwrite
};

// A format is one of geometry_formats(), or "xrad", the header of an X-RAD, which is only read.
// Throws Error(input) where the file cannot be understood, Error(geometry) where a view cannot be used,
// Error(usage) where the format is unknown or the size of the frames is missing.
ScanGeometry read_geometry(const std::filesystem::path& path, const std::string& format,
                           const GeometryFileOptions& options = {});

// The same from text; `name` is what messages call it.
ScanGeometry parse_geometry(const std::string& text, const std::string& name, const std::string& format,
                            const GeometryFileOptions& options = {});

// Throws Error(unsupported) where the format cannot hold the scan (a stack of fans; pixels that are not rectangles for
// rtk and tigre). A scan recorded on an arc is written with the flat detector that its frames are resampled onto.
void write_geometry(const ScanGeometry& geometry, const std::filesystem::path& path, const std::string& format,
                    const GeometryFileOptions& options = {});
std::string geometry_text(const ScanGeometry& geometry, const std::string& format,
                          const GeometryFileOptions& options = {});

}  // namespace lepus

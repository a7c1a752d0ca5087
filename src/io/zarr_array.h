// SPDX-License-Identifier: Apache-2.0
// The metadata of Zarr version 2 (https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html) and of OME-Zarr 0.4
// (https://ngff.openmicroscopy.org/0.4): one array, and the levels of a volume of several resolutions. All of it comes
// from files that anybody may have written.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/frames.h"
#include "io/volume_file.h"
#include "io/zarr_codec.h"
#include <lepus/geometry.h>

namespace lepus {

// An array as a volume: axes before z, y and x have one element.
struct ZarrArray {
  std::filesystem::path folder;
  std::array<std::int64_t, 3> shape{}, chunks{};  // z, y, x
  int leading = 0;                                // axes before z
  bool flat = false;                              // two axes only, y and x
  PixelType type = PixelType::f32;
  bool big_endian = false;
  ZarrCodec codec = ZarrCodec::blosc;
  std::optional<double> fill;  // of chunks that are not there; none: all must be
  char separator = '/';        // in the names of chunks
  ValueScale scale = {};

  std::int64_t chunk_bytes() const { return chunks[0] * chunks[1] * chunks[2] * bytes_per_pixel(type); }
  std::array<std::int64_t, 3> chunks_along() const;  // how many
  std::filesystem::path chunk_file(std::int64_t z, std::int64_t y, std::int64_t x) const;
};

// From FOLDER/.zarray. Throws Error(input) for what no array can be, Error(unsupported) for what lepus does not read.
ZarrArray read_zarr_array(const std::filesystem::path& folder);
std::string zarr_array_json(const ZarrArray& array);
std::string zarr_attributes_json(const ValueScale& scale);  // FOLDER/.zattrs, in the words of netCDF's conventions

struct ZarrLevel {
  std::string path;  // below the group
  Vec3 step_mm{1, 1, 1}, origin_mm{};
};
struct ZarrGroup {
  std::vector<ZarrLevel> levels;  // full resolution first
  std::string unit, provenance;   // of lepus; "" where somebody else wrote it
  bool complete = false;          // lepus wrote every chunk: none may be missing
};
// From FOLDER/.zattrs; nothing where it does not speak of levels.
std::optional<ZarrGroup> read_zarr_group(const std::filesystem::path& folder);
std::string zarr_group_json(const ZarrGroup& group);

// A folder that holds a Zarr array or group, of whatever version.
bool is_zarr(const std::filesystem::path& folder);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// A volume as it is looked at: the file, coarser levels where there are some, and a sample of its values. Never changed
// once it is made; a file that changes, or a new level, makes a new one.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/volume_file.h"
#include "view/part_cache.h"

namespace lepus::view {

struct Level {
  std::int64_t factor = 1;  // voxels of the file per voxel, along every axis
  std::shared_ptr<const VolumeReader> reader;
  std::uint64_t source = 0;  // of the PartCache

  std::array<std::int64_t, 3> size() const { return {reader->grid().nx, reader->grid().ny, reader->grid().nz}; }
};

// Values spread over the volume, or all of them where they are few.
struct ValueSample {
  std::vector<float> values;  // the finite ones, ascending
  std::int64_t looked_at = 0;
  bool whole = false;

  std::int64_t not_finite() const { return looked_at - static_cast<std::int64_t>(values.size()); }
  std::optional<double> percentile(double percent) const;  // nothing where no value is finite
};

struct OpenedVolume {
  std::filesystem::path path;
  std::string type, unit;  // "f32", "1/mm"
  VolumeGrid grid;
  std::optional<double> field_of_view_mm;  // radius of the cylinder that every view saw, where the volume says it
  std::vector<Level> levels;               // the file itself first
  ValueSample sample;

  std::array<std::int64_t, 3> size() const { return levels.front().size(); }
};

// Throws Error as open_volume does.
std::shared_ptr<const OpenedVolume> open_for_viewing(const std::filesystem::path& path);
// The same with the coarser levels of a pyramid, which must be of the same size; others are left out.
std::shared_ptr<const OpenedVolume> with_pyramid(const OpenedVolume& volume, const std::filesystem::path& pyramid);

// For a copy that lepus view writes: stored as the volume is where lepus writes that type, with its scale; else floats.
VolumeWriterOptions options_of_copy(const VolumeReader& volume);

// Its voxels lie one by one in a file: a slice across x is a read per voxel.
bool is_plain(const Level& level);
// A part of a level, through the cache where unpacking costs more than reading.
void read_level(const Level& level, const VolumePart& part, PartCache& cache, float* out);

}  // namespace lepus::view

// SPDX-License-Identifier: Apache-2.0
// Volume files, read and written slab by slab, so that none needs to fit into memory: MHA/MHD, NRRD, TIFF stack
// (BigTIFF where needed), TIFF folder, HDF5, OME-Zarr, raw with a JSON side-car. The ending of the name chooses the
// format that is written; what is read is known by its content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/output_lock.h"
#include "io/frames.h"
#include <lepus/geometry.h>

namespace lepus {

class VolumeWriter {
public:
  virtual ~VolumeWriter() = default;  // without finish() the partial files are removed
  // Slices [z0, z1), x fastest, as float: at any place, in any order, by any thread and by several at a time. A slice
  // that is outside or comes twice is an Error(internal).
  virtual void write(std::int64_t z0, std::int64_t z1, const float* slices) = 0;
  virtual std::int64_t memory_bytes() const { return 0; }  // that it takes at most, beside the slices it is given
  // Where the volume lies in memory: slice z0, the slices after it following, to be filled instead of write(); null
  // where it does not.
  virtual float* in_memory(std::int64_t /*z0*/) { return nullptr; }
  // provenance: a JSON object kept inside the file (or beside it where the format has no room). Renames into place.
  // After every write() has returned; slices that were never written are an Error(internal) that names them.
  virtual void finish(const std::string& provenance) = 0;
};

struct VolumeWriterOptions {
  bool force = false;                // overwrite what is there
  std::string unit = "1/mm";         // of the voxel values
  std::int64_t provenance_room = 0;  // bytes to keep free in headers that come before the data; 0: a default (64 KiB)
  // Of the file: f32, or u8, u16 or i16, for which values are rounded to the nearest integer and cut off at the ends of
  // the type's range; NaN is then an Error(input).
  PixelType type = PixelType::f32;
  int threads = 0;  // for packing, where a format does; 0: one per hardware thread
};

// By the ending of `path`: .mha .mhd .nrrd .nhdr .tif .h5 .raw .zarr; "slices/" or "slices/%04d.tif" is a folder of
// TIFF files. Throws Error(disk) before any work where the target exists (without force) or the disk is too small.
std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, const VolumeGrid& grid,
                                            const VolumeWriterOptions& options = {});

// Every file that such a volume is written to; of a folder of slices, the side-car.
std::vector<std::filesystem::path> files_of_volume(const std::filesystem::path& path);
// For a volume that is written after long work, as reserve_output; the locks of all its files. Slices that exist are
// found when it is created.
[[nodiscard]] std::vector<OutputLock> reserve_volume(const std::filesystem::path& path, bool force, Progress& progress);

class VolumeReader {
public:
  virtual ~VolumeReader() = default;
  virtual const VolumeGrid& grid() const = 0;
  virtual std::string format() const = 0;          // "MetaImage"
  virtual std::string pixel_type() const = 0;      // "float32"
  virtual std::string provenance() const = 0;      // JSON on one line, or "" where there is none
  virtual std::string unit() const { return {}; }  // of the voxel values, "" where the file does not say
  virtual void read(std::int64_t z0, std::int64_t z1, float* slices) const = 0;
};

// Any of these, also those that other programs wrote; "file.h5:/path" names any 3-D dataset, "v.zarr#2" a level of a
// pyramid.
std::unique_ptr<VolumeReader> open_volume(const std::filesystem::path& path);

// Formats this build can write and those it was made without, for messages: {".mha", "MetaImage", true}.
struct VolumeFormat {
  std::string ending, name;
  bool available;
};
std::vector<VolumeFormat> volume_formats();

}  // namespace lepus

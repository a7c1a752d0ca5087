// SPDX-License-Identifier: Apache-2.0
// Volume files, read and written slab by slab, so that none needs to fit into memory: MHA/MHD, NRRD, TIFF stack
// (BigTIFF where needed), TIFF folder, HDF5, OME-Zarr, raw with a JSON side-car. The ending of the name chooses the
// format that is written; what is read is known by its content.
#pragma once

#include <chrono>
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

// How a voxel's value follows from what is stored: value = slope * stored + offset.
struct ValueScale {
  double slope = 1, offset = 0;
  bool is_identity() const { return slope == 1 && offset == 0; }
  bool is_usable() const;  // a slope that is finite and not zero, a finite offset: files may say anything
  void apply(float* values, std::int64_t count) const;  // stored -> value, in place
  friend bool operator==(const ValueScale&, const ValueScale&) = default;
};
// So that uint16 holds [low, high]. Error(usage) where that is no range.
ValueScale scale_of_range(double low, double high);

struct FinishedSlices {
  std::int64_t z0 = 0, z1 = 0;  // [z0, z1)
};

class VolumeWriter {
public:
  virtual ~VolumeWriter() = default;  // without finish() the partial files are removed, unless they are kept
  // Slices [z0, z1), x fastest, as float: at any place, in any order, by any thread and by several at a time. A slice
  // that is outside or comes twice is an Error(internal).
  virtual void write(std::int64_t z0, std::int64_t z1, const float* slices) = 0;
  virtual std::int64_t memory_bytes() const { return 0; }  // that it takes at most, beside the slices it is given
  // Voxels so far that the type of the file does not reach, and that got its largest or smallest value instead.
  virtual std::int64_t cut_off() const { return 0; }
  // Where the volume lies in memory: slice z0, the slices after it following, to be filled instead of write(); null
  // where it does not.
  virtual float* in_memory(std::int64_t /*z0*/) { return nullptr; }
  // provenance: a JSON object kept inside the file (or beside it where the format has no room). Renames into place.
  // After every write() has returned; slices that were never written are an Error(internal) that names them.
  virtual void finish(const std::string& provenance) = 0;
};

// A volume that outlives its process (VolumeWriterOptions::keep_unfinished): it lies beside the output as
// unfinished_name() says, and a write() that failed or a writer that goes without finish() leave it there. Slices whose
// write() failed may be written again. finish() is for one of the processes that have it open: it waits until the
// others have closed it, and comes back at once where another one has finished it.
class UnfinishedVolume : public VolumeWriter {
public:
  // These slices are on the disk, not only in the system's memory.
  virtual void flush(std::int64_t z0, std::int64_t z1) = 0;
  // Of the bytes as they are stored: the sum of the slices' row_checksum(z, 0), so that parts add up. Of slices that
  // this writer wrote, what it wrote; of others, what is in the file.
  virtual std::uint64_t checksum(std::int64_t z0, std::int64_t z1) const = 0;
  // Another process wrote these: they count for finish(). So may they be named twice.
  virtual void written_elsewhere(std::int64_t z0, std::int64_t z1) = 0;
};

struct VolumeWriterOptions {
  bool force = false;                // overwrite what is there
  std::string unit = "1/mm";         // of the voxel values
  std::int64_t provenance_room = 0;  // bytes to keep free in headers that come before the data; 0: a default (64 KiB)
  // Of the file: f32; f16 where the format has it; or u8, u16 or i16, for which (value - offset) / slope is rounded to
  // the nearest integer. What is beyond the type's range is cut off there; NaN is an Error(input) for integers.
  PixelType type = PixelType::f32;
  ValueScale scale = {};     // of integers
  int threads = 0;           // for packing, where a format does; 0: one per hardware thread
  std::string dataset = {};  // of frames in HDF5; "": /exchange/data
  // Of unfinished volumes: several processes (shares, ranks) have it open at a time, and share its locks.
  Sharing sharing = Sharing::alone;
};

// By the ending of `path`: .mha .mhd .nrrd .nhdr .tif .h5 .raw .zarr; "slices/" or "slices/%04d.tif" is a folder of
// TIFF files. Throws Error(disk) before any work where the target exists (without force) or the disk is too small.
std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, const VolumeGrid& grid,
                                            const VolumeWriterOptions& options = {});

// The same, kept until it is finished. Error(disk) where an unfinished one is there already.
std::unique_ptr<UnfinishedVolume> create_unfinished(const std::filesystem::path& path, const VolumeGrid& grid,
                                                    const VolumeWriterOptions& options = {});
// Goes on with the one that is there; `finished` must not be written again. Error(disk) where there is none,
// Error(input) where it is that of another volume.
std::unique_ptr<UnfinishedVolume> reopen_unfinished(const std::filesystem::path& path, const VolumeGrid& grid,
                                                    const VolumeWriterOptions& options,
                                                    const std::vector<FinishedSlices>& finished);
bool unfinished_exists(const std::filesystem::path& path);
// Of one that another machine has just made: for some seconds NFS may remember that it was not there.
bool unfinished_appears(const std::filesystem::path& path, std::chrono::milliseconds longest);
// With all its files; and what a run that was killed at the very end of finish() left in the finished volume.
// Error(disk) where another process has it open.
void remove_unfinished(const std::filesystem::path& path);

// Every file that such a volume is written to; of a folder of slices, the side-car.
std::vector<std::filesystem::path> files_of_volume(const std::filesystem::path& path);
// Throws Error(usage) where writing `output` replaces a file that open_volume(input) reads: its own name, the data file
// of its header, its side-car, one of its slices.
void refuse_to_replace_input(const std::filesystem::path& output, const std::filesystem::path& input);
// For a volume that is written after long work, as reserve_output; the locks of all its files. Slices that exist are
// found when it is created.
[[nodiscard]] std::vector<OutputLock> reserve_volume(const std::filesystem::path& path, bool force, Progress& progress,
                                                     Sharing sharing = Sharing::alone);

class VolumeReader {
public:
  virtual ~VolumeReader() = default;
  virtual const VolumeGrid& grid() const = 0;
  virtual std::string format() const = 0;          // "MetaImage"
  virtual std::string pixel_type() const = 0;      // "float32"
  virtual std::string provenance() const = 0;      // JSON on one line, or "" where there is none
  virtual std::string unit() const { return {}; }  // of the voxel values, "" where the file does not say
  virtual ValueScale scale() const { return {}; }  // of what is stored; read() has applied it
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

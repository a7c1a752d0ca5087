// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers in the files of other programs (NumPy, MATLAB, FITS) and of scanners: where they lie and what they
// hold, read as frames or as a volume. A reader of such a format only lists its arrays; all else is here, once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/file_kind.h"
#include "io/frame_sources.h"
#include "io/frames.h"
#include "io/stored_images.h"
#include "io/volume_file.h"

namespace lepus {

struct StoredArray {
  std::string name;                 // "" where the file holds only one
  std::vector<std::int64_t> shape;  // the axis that is slowest in the file first
  PixelType type = PixelType::f32;  // of the bytes in the file; an unsigned or float type of the same size for others
  StoredNumber number = StoredNumber::pixel;
  ValueScale scale;  // of StoredNumber::scaled
  bool big_endian = false;
  // NumPy's Fortran order: the first index is the fastest. Axes are named by index, so that images are turned.
  bool first_index_fastest = false;
  std::int64_t offset = 0;  // of the first number, in bytes; of an array that is packed, in what is unpacked
  struct Packed {           // a deflate stream
    std::int64_t offset = 0, bytes = 0;
    bool zlib = false;  // with zlib's header and checksum around it
  };
  std::optional<Packed> packed;
  std::string problem;  // why it cannot be read; "" where it can
};

struct ArrayFile {
  std::string format;  // "NumPy"
  std::vector<StoredArray> arrays;
  // What it says of a volume; where it says nothing, voxels have 1 mm.
  Vec3 origin_mm{}, step_mm{1, 1, 1};
  std::string unit, provenance;
};

ArrayFile read_npy(const std::filesystem::path& file);
ArrayFile read_npz(const std::filesystem::path& file);
ArrayFile read_matlab(const std::filesystem::path& file);
ArrayFile read_fits(const std::filesystem::path& file);
ArrayFile read_vff(const std::filesystem::path& file);
ArrayFile read_isq(const std::filesystem::path& file);
ArrayFile read_rek(const std::filesystem::path& file);

bool has_named_arrays(FileKind kind);  // several in one file
// Error(internal) for a kind that is none of these.
ArrayFile read_array_file(const std::filesystem::path& file, FileKind kind);

// The array of that name; "": the only one of three axes, else of two. Error(input) that lists what there is.
const StoredArray& choose_array(const ArrayFile& file, const std::string& name, const std::filesystem::path& path);
// Those of two and three axes, and those that cannot be read.
std::vector<StoredImages> list_array_images(const std::filesystem::path& file, FileKind kind);
// All numbers of a small array of any shape, as double; Error(input) above `limit` of them.
std::vector<double> read_numbers(const std::filesystem::path& file, const StoredArray& array, std::int64_t limit);

std::unique_ptr<FrameSource> open_array_frames(const std::vector<std::filesystem::path>& files,
                                               const std::string& name);
std::unique_ptr<VolumeReader> open_array_volume(const std::filesystem::path& file, const std::string& name);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// What a file is: by its first bytes where they tell, else by the ending of its name.
#pragma once

#include <filesystem>

namespace lepus {

enum class FileKind {
  tiff,
  hdf5,
  raw,
  meta_image,
  nrrd,
  png,
  npy,
  npz,
  matlab,
  fits,
  vff,
  isq,
  rek,
  dicom,
  zeiss,
  varian,
  his,
  edf,
  unknown
};

// By content: a .mat of MATLAB 7.3 is HDF5, a TIFF may be called .dat. Files that say nothing, or cannot be read, are
// taken by their ending; `unknown` where that says nothing either.
FileKind kind_of_file(const std::filesystem::path& path);
FileKind kind_of_name(const std::filesystem::path& path);
const char* words_of(FileKind kind);  // "a PNG image"

bool is_tiff_name(const std::filesystem::path& path);   // .tif, .tiff, .btf, .tf8
bool is_hdf5_name(const std::filesystem::path& path);   // .h5, .hdf5, .hdf, .nxs
bool is_numpy_name(const std::filesystem::path& path);  // .npy, .npz
bool is_raw_name(const std::filesystem::path& path);    // .raw, .bin, .dat, .img, .vol

}  // namespace lepus

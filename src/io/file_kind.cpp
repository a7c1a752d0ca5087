// SPDX-License-Identifier: Apache-2.0
#include "io/file_kind.h"

#include <algorithm>
#include <string_view>

#include "io/file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

using namespace std::string_view_literals;

bool has_ending(const fs::path& path, std::initializer_list<const char*> endings) {
  const std::string ending = lower_extension(path);
  return std::any_of(endings.begin(), endings.end(), [&](const char* e) { return ending == e; });
}

FileKind kind_of_content(const InputFile& file) {
  const std::string head = file.head(132);
  const std::string_view start = head;
  if (start.starts_with("II*\0"sv) || start.starts_with("MM\0*"sv) || start.starts_with("II+\0"sv) ||
      start.starts_with("MM\0+"sv))
    return FileKind::tiff;
  if (start.starts_with("\x89PNG\r\n\x1a\n"sv)) return FileKind::png;
  if (start.starts_with("\x93NUMPY"sv)) return FileKind::npy;
  if (start.starts_with("PK\x03\x04"sv)) return FileKind::npz;
  if (start.starts_with("SIMPLE  ="sv)) return FileKind::fits;
  if (start.starts_with("ncaa"sv)) return FileKind::vff;
  if (start.starts_with("CTDATA-HEADER_V1"sv)) return FileKind::isq;
  if (start.starts_with("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv)) return FileKind::zeiss;
  if (start.starts_with("\0VMS.XI\0"sv)) return FileKind::varian;
  if (start.starts_with("\0\x70\x44\0"sv)) return FileKind::his;
  if (start.starts_with('{') && file.head(1024).find("Dim_1") != std::string::npos) return FileKind::edf;
  if (start.size() == 132 && start.ends_with("DICM"sv)) return FileKind::dicom;
  if (start.starts_with("NRRD000"sv)) return FileKind::nrrd;
  if (start.starts_with("ObjectType"sv) || start.starts_with("NDims"sv)) return FileKind::meta_image;
  // HDF5 may have a block of somebody else's before it: 512 bytes (MATLAB), 1024, 2048, ...
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n"sv;
  const auto length = static_cast<std::int64_t>(signature.size());
  for (std::int64_t at = 0; at <= file.size() - length && at < (std::int64_t{1} << 40); at = at == 0 ? 512 : 2 * at) {
    std::string bytes(signature.size(), '\0');
    file.read(at, bytes.data(), length);
    if (bytes == signature) return FileKind::hdf5;
  }
  if (start.starts_with("MATLAB 5.0"sv)) return FileKind::matlab;
  return FileKind::unknown;
}

}  // namespace

bool is_tiff_name(const fs::path& path) { return has_ending(path, {".tif", ".tiff", ".btf", ".tf8"}); }
bool is_hdf5_name(const fs::path& path) { return has_ending(path, {".h5", ".hdf5", ".hdf", ".nxs"}); }
bool is_numpy_name(const fs::path& path) { return has_ending(path, {".npy", ".npz"}); }
bool is_raw_name(const fs::path& path) { return has_ending(path, {".raw", ".bin", ".dat", ".img", ".vol"}); }

FileKind kind_of_name(const fs::path& path) {
  if (is_tiff_name(path)) return FileKind::tiff;
  if (is_hdf5_name(path)) return FileKind::hdf5;
  if (is_raw_name(path)) return FileKind::raw;
  if (has_ending(path, {".mha", ".mhd"})) return FileKind::meta_image;
  if (has_ending(path, {".nrrd", ".nhdr"})) return FileKind::nrrd;
  if (has_ending(path, {".png"})) return FileKind::png;
  if (has_ending(path, {".npy"})) return FileKind::npy;
  if (has_ending(path, {".npz"})) return FileKind::npz;
  if (has_ending(path, {".fits", ".fit", ".fts"})) return FileKind::fits;
  if (has_ending(path, {".vff"})) return FileKind::vff;
  if (has_ending(path, {".isq"})) return FileKind::isq;
  if (has_ending(path, {".rek"})) return FileKind::rek;
  if (has_ending(path, {".dcm", ".dicom"})) return FileKind::dicom;
  if (has_ending(path, {".txrm", ".xrm", ".txm"})) return FileKind::zeiss;
  if (has_ending(path, {".xim", ".hnd", ".hnc"})) return FileKind::varian;
  if (has_ending(path, {".his"})) return FileKind::his;
  if (has_ending(path, {".edf"})) return FileKind::edf;
  return FileKind::unknown;
}

FileKind kind_of_file(const fs::path& path) {
  try {
    const FileKind kind = kind_of_content(InputFile(path));
    if (kind != FileKind::unknown) return kind;
  } catch (const Error&) {  // whoever opens it next says what is wrong
  }
  return kind_of_name(path);
}

const char* words_of(FileKind kind) {
  switch (kind) {
    case FileKind::tiff:
      return "a TIFF file";
    case FileKind::hdf5:
      return "an HDF5 file";
    case FileKind::raw:
      return "a raw file";
    case FileKind::meta_image:
      return "a MetaImage volume";
    case FileKind::nrrd:
      return "a NRRD volume";
    case FileKind::png:
      return "a PNG image";
    case FileKind::matlab:
      return "a MATLAB file";
    case FileKind::npy:
      return "a NumPy array";
    case FileKind::fits:
      return "a FITS file";
    case FileKind::vff:
      return "a VFF volume";
    case FileKind::isq:
      return "an ISQ volume";
    case FileKind::rek:
      return "a REK volume";
    case FileKind::dicom:
      return "a DICOM file";
    case FileKind::npz:
      return "an archive of NumPy arrays";
    case FileKind::zeiss:
      return "an OLE compound file, as of Zeiss microscopes";
    case FileKind::varian:
      return "an image of a Varian imager";
    case FileKind::his:
      return "an image of an Elekta imager";
    case FileKind::edf:
      return "an EDF image";
    case FileKind::unknown:
      break;
  }
  return "a file of another kind";
}

}  // namespace lepus

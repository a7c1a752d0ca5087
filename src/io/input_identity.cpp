// SPDX-License-Identifier: Apache-2.0
#include "io/input_identity.h"

#include <algorithm>
#include <set>

#include <sys/stat.h>

#include "core/folder.h"
#include "core/format.h"
#include "core/row_checksum.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/frame_names.h"
#include "io/json_text.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

// "file.h5:/data", "scan.mat:A" and "v.zarr#2" name a part of a file or folder.
fs::path without_part(const fs::path& volume) {
  std::error_code code;
  const std::string text = volume.string();
  for (const char mark : {':', '#'})
    if (const std::size_t part = text.rfind(mark); part != std::string::npos && !fs::exists(volume, code))
      if (fs::exists(text.substr(0, part), code)) return text.substr(0, part);
  return volume;
}

std::vector<fs::path> all_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;  // a folder that is not there has none
  for (const auto& entry : fs::recursive_directory_iterator(folder, code))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> files_behind(const fs::path& file, FileKind kind, const std::string& dataset) {
  switch (kind) {
    case FileKind::hdf5:
      return files_behind_hdf5(file, dataset);
    case FileKind::meta_image:
      return {data_of_meta_image(file)};
    case FileKind::nrrd:
      return {data_of_nrrd(file)};
    default:
      return {};
  }
}

// However they are written.
void add_new(std::vector<fs::path>& files, const std::vector<fs::path>& more) {
  if (more.empty()) return;
  std::error_code code;  // one that is not there is found where it is opened
  std::set<fs::path> known;
  for (const fs::path& file : files) known.insert(fs::weakly_canonical(file, code));
  for (const fs::path& file : more)
    if (fs::exists(file, code) && known.insert(fs::weakly_canonical(file, code)).second) files.push_back(file);
}

// Whatever may be a slice, and the side-cars that describe them.
std::vector<fs::path> slices_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::path& file : entries_of(folder)) {
    const std::string ending = lower_extension(file);
    if (is_tiff_name(file) || is_dicom_name(file) || ending == ".vol" || ending == ".json") files.push_back(file);
  }
  return files;
}

}  // namespace

std::vector<fs::path> files_of_input(const FrameFiles& images) {
  std::vector<fs::path> files = images.files;
  if (files.empty() || images.labelled) return files;
  const FileKind kind = images.raw ? FileKind::raw : kind_of_file(files.front());
  if (kind == FileKind::raw && !images.raw) add_new(files, {side_car_of(images.files.front())});
  if (kind != FileKind::hdf5 && kind != FileKind::meta_image && kind != FileKind::nrrd) return files;
  const std::string dataset = images.dataset.empty() ? frames_dataset : images.dataset;
  for (const fs::path& file : images.files) add_new(files, files_behind(file, kind, dataset));
  return files;
}

std::vector<fs::path> files_of_input(const fs::path& volume) {
  const fs::path path = without_part(volume);
  std::error_code code;
  if (split_zarr_level(path)) return all_files_below(path);
  if (fs::is_directory(path, code)) return slices_in(path);
  if (const auto place = find_number(path); place && !fs::exists(path, code)) {
    std::vector<fs::path> slices = slices_in(fs::absolute(path).parent_path());
    const fs::path side_car = slices_side_car(path).filename();
    std::erase_if(slices, [&](const fs::path& file) {
      return !is_numbered(file.filename().string(), *place) && file.filename() != side_car;
    });
    return slices;
  }
  std::vector<fs::path> files{path};
  const FileKind kind = kind_of_file(path);
  if (kind != FileKind::meta_image && kind != FileKind::nrrd) add_new(files, files_of_volume(path));
  if (!fs::exists(path, code)) return files;
  const std::string part = volume.string().substr(path.string().size());
  add_new(files, files_behind(path, kind, part.empty() ? "" : part.substr(1)));
  return files;
}

InputIdentity identity_of_files(const std::vector<fs::path>& files, const fs::path& folder) {
  InputIdentity identity;
  const fs::path base = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
  std::uint64_t sum = 0;
  for (const fs::path& file : files) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0)
      throw Error(ErrorKind::input, {.what = "file not found",
                                     .where = file.string(),
                                     .why = "it was there when the input was read",
                                     .hint = "put it back"});
    fs::path name = fs::absolute(file).lexically_normal().lexically_proximate(base);
    if (*name.begin() == "..") {  // it may be meant by other names, too
      std::error_code code;
      name = fs::weakly_canonical(file, code).lexically_proximate(fs::weakly_canonical(base, code));
    }
    const std::string text =
        format("{} {} {} {}.{:09}", identity.files++, name.string(), static_cast<std::int64_t>(info.st_size),
               static_cast<std::int64_t>(info.st_mtim.tv_sec), static_cast<std::int64_t>(info.st_mtim.tv_nsec));
    sum += row_checksum(0, 0, text.data(), static_cast<std::int64_t>(text.size()));
  }
  identity.checksum = format("{:016x}", sum);
  return identity;
}

JournalFact volume_fact(const fs::path& volume) {
  const fs::path path = without_part(volume);
  const std::string part = volume.string().substr(path.string().size());
  const InputIdentity identity = identity_of_files(files_of_input(volume), path.parent_path());
  return {"the input", format("{}{} ({} files; checksum of their names, sizes and times {})", path.filename().string(),
                              part, identity.files, identity.checksum)};
}

}  // namespace lepus

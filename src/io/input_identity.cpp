// SPDX-License-Identifier: Apache-2.0
#include "io/input_identity.h"

#include <algorithm>

#include <sys/stat.h>

#include "core/format.h"
#include "core/row_checksum.h"
#include "io/dicom_images.h"
#include "io/file.h"
#include "io/file_kind.h"
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

// Whatever may be a slice, and the side-cars that describe them.
std::vector<fs::path> slices_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const fs::path& file = entry.path();
    const std::string ending = lower_extension(file);
    if (is_tiff_name(file) || is_dicom_name(file) || ending == ".vol" || ending == ".json") files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<fs::path> files_of_input(const fs::path& volume) {
  const fs::path path = without_part(volume);
  std::error_code code;
  if (split_zarr_level(path)) return all_files_below(path);
  if (fs::is_directory(path, code)) return slices_in(path);
  if (!fs::exists(path, code) && find_number(path)) return slices_in(fs::absolute(path).parent_path());
  std::vector<fs::path> files{path};
  for (const fs::path& file : files_of_volume(path))
    if (file != path && fs::exists(file, code)) files.push_back(file);
  return files;
}

InputIdentity identity_of_files(const std::vector<fs::path>& files, const fs::path& folder) {
  InputIdentity identity;
  std::uint64_t sum = 0;
  for (const fs::path& file : files) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0)
      throw Error(ErrorKind::input, {.what = "file not found",
                                     .where = file.string(),
                                     .why = "it was there when the input was read",
                                     .hint = "put it back"});
    const std::string text =
        format("{} {} {} {}.{:09}", identity.files++, file.lexically_proximate(folder).string(),
               static_cast<std::int64_t>(info.st_size), static_cast<std::int64_t>(info.st_mtim.tv_sec),
               static_cast<std::int64_t>(info.st_mtim.tv_nsec));
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

// SPDX-License-Identifier: Apache-2.0
// TIFF stacks and folders as volumes. Ours describe their grid (ImageDescription, or a JSON file in the folder);
// others' get voxels of 1 mm around nothing in particular.
#include <algorithm>

#include "core/folder.h"
#include "core/format.h"
#include "io/file.h"
#include "io/frame_sources.h"
#include "io/header_text.h"
#include "io/json_text.h"
#include "io/ome_text.h"
#include "io/stack.h"
#include "io/tiff_file.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

std::unique_ptr<VolumeReader> described_volume(std::unique_ptr<FrameSource> slices, const std::string& json,
                                               const std::string& where, const std::string& format_name) {
  VolumeInfo info;
  info.format = format_name;
  info.grid = {
      .nx = slices->columns(), .ny = slices->rows(), .nz = slices->frames(), .origin_mm = {}, .step_mm = {1, 1, 1}};
  if (!json.empty()) {
    const StackDescription d = stack_from_json(json, where);
    if (d.text.grid) info.grid = *d.text.grid;
    info.unit = d.text.unit;
    info.scale = d.text.scale;
    info.provenance = d.provenance;
  }
  return volume_of_frames(std::move(slices), std::move(info));
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The one side-car of a folder, or "" where there is none.
fs::path find_side_car(const fs::path& folder) {
  fs::path found;
  for (const fs::path& file : entries_of(folder)) {
    if (!file.filename().string().ends_with(slices_side_car_ending)) continue;
    if (!found.empty())
      throw Error(ErrorKind::input, {.what = "folder holds several volumes",
                                     .where = folder.string(),
                                     .why = format("{} and {}", found.filename().string(), file.filename().string()),
                                     .hint = "name one, like folder/slice_%04d.tif"});
    found = file;
  }
  return found;
}

}  // namespace

std::unique_ptr<VolumeReader> open_tiff_volume(const fs::path& path) {
  std::string description = read_tiff_directories(path).description;
  if (is_ome(description)) {
    auto slices = open_tiff_frames({path}).images;
    const VolumeGrid grid{.nx = slices->columns(),
                          .ny = slices->rows(),
                          .nz = slices->frames(),
                          .origin_mm = {},
                          .step_mm = ome_voxel_mm(description, slices->frames(), path.string())};
    check_grid(grid, slices->pixel_type(), path);
    return volume_of_frames(std::move(slices), {.grid = grid, .format = "OME-TIFF", .unit = {}, .provenance = {}});
  }
  if (!is_volume_json(description)) description.clear();
  return described_volume(open_tiff_frames({path}).images, description, path.string(), "TIFF");
}

std::unique_ptr<VolumeReader> open_tiff_folder(const fs::path& path) {
  const auto place = find_number(path);
  const fs::path beside = path.has_parent_path() ? path.parent_path() : ".", folder = place ? beside : path;
  std::string prefix, suffix;
  fs::path side_car;
  std::error_code code;
  if (place) {
    prefix = place->prefix;
    suffix = place->suffix;
    side_car = folder / (prefix + std::string(slices_side_car_ending));
    if (!fs::exists(side_car, code)) side_car.clear();
  } else {
    side_car = find_side_car(folder);
    if (!side_car.empty()) {
      prefix = side_car.filename().string();
      prefix.resize(prefix.size() - slices_side_car_ending.size());
    }
  }
  std::vector<fs::path> files;
  for (const fs::path& file : expand_pattern(folder, "")) {
    const std::string name = file.filename().string();
    const std::string stem = file.stem().string();
    const bool chosen =
        place
            ? name.starts_with(prefix) && name.ends_with(suffix) && name.size() > prefix.size() + suffix.size() &&
                  all_digits(std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size()))
            : side_car.empty() || (stem.starts_with(prefix) && all_digits(stem.substr(prefix.size())));
    if (chosen) files.push_back(file);
  }
  if (files.empty())
    throw Error(ErrorKind::input, {.what = "no slices found",
                                   .where = path.string(),
                                   .why = "no TIFF file matches",
                                   .hint = "check the folder and the pattern"});
  const std::string json = side_car.empty() ? "" : read_text_file(side_car, std::int64_t{256} << 20);
  return described_volume(open_tiff_frames(files).images, json, side_car.string(), "TIFF folder");
}

}  // namespace lepus

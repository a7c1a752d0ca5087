// SPDX-License-Identifier: Apache-2.0
#include "job/method_input.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/format.h"
#include "core/text.h"
#include "geometry/camera.h"
#include "iterative/method.h"
#include "scan/keys.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_setting(std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = "method", .why = std::move(why), .hint = std::move(hint)});
}

// Settings may come from a program, not through the reader of scan files, which refuses other words.
void require_choice(std::string_view key, const std::string& word) {
  const std::vector<std::string> known = split_words(find_scan_key("method", key)->choices);
  if (std::ranges::find(known, word) != known.end()) return;
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "there are " : ", ") + one;
  const std::string near = nearest_name(word, known);
  refuse_setting(format("{} = \"{}\" is not known", key, shown(word)), all,
                 near.empty() ? "take one of these" : format("did you mean \"{}\"?", near));
}

void require_extension(const std::vector<double>& extend) {
  const ScanKey& key = *find_scan_key("method", "extend");
  const auto [least, most, open] = key.range;
  const auto possible = [&](double share) { return share >= least && share <= most; };
  if (std::ssize(extend) == key.count && std::ranges::all_of(extend, possible)) return;
  std::string given;
  for (const double share : extend) given += format("{}{}", given.empty() ? "" : ", ", share);
  refuse_setting(format("extend = [{}]", given),
                 format("it is {} shares of the volume's size, for x, y and z, from {} to {}", key.count, least, most),
                 "give for example [0.2, 0.2, 0]");
}

}  // namespace

MethodOptions method_options(const MethodSettings& settings, std::int64_t views, double noise) {
  constexpr std::int64_t usual_subsets = 10;
  const MethodKind& kind = method_kind(settings.name);
  require_choice("order", settings.order);
  require_choice("weights", settings.weights);
  require_choice("model", settings.model);
  MethodOptions options;
  options.method = settings.name;
  options.iterations = settings.iterations;
  options.subsets = settings.subsets.value_or(kind.subsets ? std::min(usual_subsets, views) : 1);
  options.order = settings.order == "sequential" ? ViewOrder::sequential
                  : settings.order == "random"   ? ViewOrder::random
                                                 : ViewOrder::distant;
  options.seed = static_cast<std::uint64_t>(settings.seed);
  options.relaxation = settings.relaxation;
  options.strength = settings.strength;
  options.huber = settings.huber;
  options.prior_share = settings.prior_share;
  options.total_variation_steps = settings.total_variation_steps;
  options.low = settings.low;
  options.high = settings.high;
  options.residual = settings.stop_residual;
  options.change = settings.stop_change;
  options.noise = settings.stop_at_noise ? noise : 0;
  check_options(options, views);
  return options;
}

MethodSettings resumable_settings(const MethodSettings& settings, std::int64_t subsets) {
  const MethodSettings usual;
  MethodSettings same = settings;
  same.subsets = subsets;
  same.iterations = usual.iterations;
  same.save_every = usual.save_every;
  same.save_minutes = usual.save_minutes;
  same.stop_residual = usual.stop_residual;
  same.stop_change = usual.stop_change;
  same.stop_at_noise = usual.stop_at_noise;
  same.noise.reset();
  return same;
}

RayModel ray_model(const std::string& name) {
  require_choice("model", name);
  return name == "siddon"      ? RayModel::siddon
         : name == "footprint" ? RayModel::footprint
         : name == "voxel"     ? RayModel::voxel
                               : RayModel::joseph;
}

bool uses_fdk(const MethodSettings& settings) { return settings.start == "fdk" || settings.name == "iterative-fdk"; }

ExtendedGrid extended_grid(const VolumeGrid& grid, const std::vector<double>& extend) {
  require_extension(extend);
  const auto more = [&](std::size_t axis, std::int64_t n) {
    return static_cast<std::int64_t>(std::ceil(extend[axis] * static_cast<double>(n)));
  };
  ExtendedGrid extended{grid, more(0, grid.nx), more(1, grid.ny), more(2, grid.nz)};
  extended.grid.origin_mm =
      grid.centre(-static_cast<double>(extended.x), -static_cast<double>(extended.y), -static_cast<double>(extended.z));
  extended.grid.nx += 2 * extended.x;
  extended.grid.ny += 2 * extended.y;
  extended.grid.nz += 2 * extended.z;
  return extended;
}

std::unique_ptr<VolumeReader> open_volume_for(const std::string& file, const VolumeGrid& grid) {
  auto volume = open_volume(file);
  const VolumeGrid& given = volume->grid();
  if (given.nx != grid.nx || given.ny != grid.ny || given.nz != grid.nz)
    throw Error(ErrorKind::input, {.what = "a volume of another size",
                                   .where = file,
                                   .why = format("it has {} x {} x {} voxels, the scan's volume {} x {} x {}", given.nx,
                                                 given.ny, given.nz, grid.nx, grid.ny, grid.nz),
                                   .hint = "reconstruct it with the same [volume]"});
  return volume;
}

void read_volume_for(const std::string& file, const VolumeGrid& grid, const ExtendedGrid& extended,
                     const std::function<void(std::int64_t, std::span<float>)>& take) {
  const auto volume = open_volume_for(file, grid);
  std::vector<float> wide(static_cast<std::size_t>(extended.grid.nx * extended.grid.ny));
  std::vector<float> slice(static_cast<std::size_t>(grid.nx * grid.ny));
  for (std::int64_t z = 0; z < grid.nz; ++z) {
    volume->read(z, z + 1, slice.data());
    for (std::int64_t y = 0; y < grid.ny; ++y)
      std::copy_n(slice.begin() + y * grid.nx, grid.nx,
                  wide.begin() + (y + extended.y) * extended.grid.nx + extended.x);
    take(z + extended.z, wide);
  }
}

std::vector<double> view_angles(const ScanGeometry& geometry) {
  std::vector<double> angles;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    angles.push_back(view_angle_rad(camera_of(geometry, view)));
  return angles;
}

}  // namespace lepus

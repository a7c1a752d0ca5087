// SPDX-License-Identifier: Apache-2.0
#include "job/method_input.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/format.h"
#include "core/text.h"
#include "geometry/camera.h"
#include "io/volume_axes.h"
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

[[noreturn]] void refuse_chosen_strength(const MethodKind& kind) {
  std::string names;
  for (const MethodKind& other : method_kinds())
    if (other.regularised) names += (names.empty() ? "" : ", ") + std::string(other.name);
  throw Error(ErrorKind::usage, {.what = "a strength that is to be chosen (auto, choose_strength = true)",
                                 .where = format("method {}", kind.name),
                                 .why = "it does not regularise",
                                 .hint = "take one of " + names});
}

}  // namespace

void require_named_method(const Scan& scan) {
  if (!scan.method.named && !scan.method.iterative())
    throw Error(ErrorKind::input,
                {.what = "[method] names no method",
                 .where = scan.file.string(),
                 .why = "without method.name the volume is made by fdk, which has none of the choices "
                        "that are given there",
                 .hint = "add for example name = \"os-sart\", or name = \"fdk\""});
}

MethodSettings choices_for(const std::string& method, const MethodSettings& all, std::vector<std::string>& left_out) {
  MethodSettings settings = all;
  settings.name = method;
  if (!settings.iterative()) return settings;
  const MethodKind& kind = method_kind(method);
  const MethodSettings usual;
  const auto only = [&](bool has, const char* key, auto choice) {
    if (has || settings.*choice == usual.*choice) return;
    settings.*choice = usual.*choice;
    left_out.emplace_back(key);
  };
  const bool from_zero = kind.non_negative && settings.low == 0 && !std::isfinite(settings.high);
  only(kind.subsets, "subsets", &MethodSettings::subsets);
  only(kind.ordered, "order", &MethodSettings::order);
  only(kind.ordered, "seed", &MethodSettings::seed);
  only(kind.relaxed, "relaxation", &MethodSettings::relaxation);
  only(kind.regularised, "strength", &MethodSettings::strength);
  only(kind.regularised, "choose_strength", &MethodSettings::choose_strength);
  only(kind.huber, "huber", &MethodSettings::huber);
  only(kind.inner_steps, "total_variation_steps", &MethodSettings::total_variation_steps);
  only(kind.prior, "prior", &MethodSettings::prior);
  only(kind.prior, "prior_share", &MethodSettings::prior_share);
  only(kind.bounded || from_zero, "low", &MethodSettings::low);
  only(kind.bounded || from_zero, "high", &MethodSettings::high);
  only(kind.weights != MethodKind::Weights::refused, "weights", &MethodSettings::weights);
  only(!kind.exact_transpose || settings.model != "voxel", "model", &MethodSettings::model);
  return settings;
}

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
  if (settings.choose_strength && !kind.regularised) refuse_chosen_strength(kind);
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

namespace {

std::string size_text(const VolumeGrid& grid) { return format("{} x {} x {} voxels", grid.nx, grid.ny, grid.nz); }

std::string place_text(const VolumeGrid& grid) {
  const Vec3 &step = grid.step_mm, &first = grid.origin_mm;
  return format("voxels in steps of ({:.6g}, {:.6g}, {:.6g}) mm from ({:.6g}, {:.6g}, {:.6g}) mm", step.x, step.y,
                step.z, first.x, first.y, first.z);
}

// Both ends of an axis within half a voxel. A file that does not know where it lies begins at zero, one that does not
// know its voxels either has them of 1 mm.
bool same_axis(double step, double first, std::int64_t n, double given_step, double given_first, bool place_known) {
  const auto length = static_cast<double>(n - 1);
  const double begin = place_known ? given_first - first : 0, end = begin + (given_step - step) * length;
  const double slack = std::abs(step) / 2;
  return std::abs(begin) <= slack && std::abs(end) <= slack && given_step * step > 0;
}

bool same_place(const VolumeGrid& grid, const VolumeGrid& given) {
  const auto all = [](const Vec3& v, double value) { return v.x == value && v.y == value && v.z == value; };
  const bool place = !all(given.origin_mm, 0);
  if (!place && all(given.step_mm, 1)) return true;
  const auto same = [&](double Vec3::*axis, std::int64_t n) {
    return same_axis(grid.step_mm.*axis, grid.origin_mm.*axis, n, given.step_mm.*axis, given.origin_mm.*axis, place);
  };
  return same(&Vec3::x, grid.nx) && same(&Vec3::y, grid.ny) && same(&Vec3::z, grid.nz);
}

std::unique_ptr<VolumeReader> open_volume_for(const std::string& file, const VolumeGrid& grid) {
  auto volume = open_as_noted(file);
  const VolumeGrid& given = volume->grid();
  const auto refuse = [&](const char* what, const std::string& has, const std::string& wanted) {
    throw Error(ErrorKind::input, {.what = what,
                                   .where = file,
                                   .why = format("it has {}, the scan's volume {}", has, wanted),
                                   .hint = "reconstruct it with the same [volume]"});
  };
  if (given.nx != grid.nx || given.ny != grid.ny || given.nz != grid.nz)
    refuse("a volume of another size", size_text(given), size_text(grid));
  if (!same_place(grid, given)) refuse("a volume of another grid", place_text(given), place_text(grid));
  return volume;
}

}  // namespace

void require_volumes(const Scan& scan) {
  for (const std::string& file : scan.method.volume_files()) {
    const std::string unit = open_volume_for(file, scan.grid)->unit();
    if ((file == scan.method.start || file == scan.method.prior) && !unit.empty() && unit != "1/mm")
      throw Error(ErrorKind::input, {.what = format("a volume in {}", unit),
                                     .where = file,
                                     .why = "methods work on 1/mm",
                                     .hint = "give the volume as it was before it was scaled"});
  }
}

void read_volume_for(const std::string& file, const VolumeGrid& grid, const ExtendedGrid& extended, float beyond,
                     const std::function<void(std::int64_t, std::span<float>)>& take) {
  const auto volume = open_volume_for(file, grid);
  std::vector<float> wide(static_cast<std::size_t>(extended.grid.nx * extended.grid.ny));
  std::vector<float> slice(static_cast<std::size_t>(grid.nx * grid.ny));
  for (std::int64_t k = 0; k < extended.grid.nz; ++k) {
    const std::int64_t z = k - extended.z;
    std::ranges::fill(wide, beyond);
    if (z >= 0 && z < grid.nz) {
      volume->read(z, z + 1, slice.data());
      if (!std::ranges::all_of(slice, [](float voxel) { return std::isfinite(voxel); }))
        throw Error(ErrorKind::input, {.what = "a voxel is not a number",
                                       .where = format("{}, slice {}", file, z),
                                       .why = "no iteration would have numbers after it",
                                       .hint = "replace it, for example with lepus post"});
      for (std::int64_t y = 0; y < grid.ny; ++y)
        std::copy_n(slice.begin() + y * grid.nx, grid.nx,
                    wide.begin() + (y + extended.y) * extended.grid.nx + extended.x);
    }
    take(k, wide);
  }
}

std::vector<double> view_angles(const ScanGeometry& geometry) {
  std::vector<double> angles;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    angles.push_back(view_angle_rad(camera_of(geometry, view)));
  return angles;
}

}  // namespace lepus

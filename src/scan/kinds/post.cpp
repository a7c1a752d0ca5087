// SPDX-License-Identifier: Apache-2.0
// What can be done to a finished volume, step by step; src/post does the work, docs/post.md explains it.
#include "scan/kinds/kinds.h"

namespace lepus {
namespace {

constexpr ScanKeyRange above_zero{.minimum = 0, .open = true};
constexpr std::string_view border_words = "keep zero partial wrap mirror clamp";
constexpr std::string_view share_of_range = "0.1953125";  // 50 of 256 grey levels

ScanKey post_key(std::string_view name, ScanKeyType type, std::string_view unit, std::string_view default_toml,
                 std::string_view meaning, ScanKeyRange range = {}) {
  return {"post", name, type, unit, default_toml, "", meaning, "", range};
}

ScanKey optional_key(std::string_view name, ScanKeyType type, std::string_view unit, std::string_view default_words,
                     std::string_view meaning, ScanKeyRange range = {}, int count = 0) {
  return {"post", name, type, unit, "", default_words, meaning, "", range, count};
}

ScanKey constant_key() {
  return post_key("value", ScanKeyType::number, "", "0.0", "The constant, in the volume's unit.");
}

ScanKey value_range_key() {
  return optional_key("value_range", ScanKeyType::number, "",
                      "measured: from the 0.5th to the 99.5th percentile of the volume so far",
                      "The range of the values, in the volume's unit.", above_zero);
}

// `more`: the filter's own parameters, between radius and borders.
std::vector<ScanKey> filter_keys(std::string_view radius, std::vector<ScanKey> more) {
  std::vector<ScanKey> keys{
      post_key("dimensions", ScanKeyType::integer, "", "3", "2: in each slice. 3: also from slice to slice.",
               {.minimum = 2, .maximum = 3}),
      post_key("radius", ScanKeyType::integer, "voxels", radius, "The mask has 2 radius + 1 voxels in every dimension.",
               {.minimum = 1, .maximum = 16000})};
  keys.insert(keys.end(), more.begin(), more.end());
  keys.push_back({"post", "border", ScanKeyType::choice, "", "\"keep\"", "",
                  "Beyond the edge of the volume: voxels without a full mask stay as they are (`keep`), zeros, a mask "
                  "that is cut off (`partial`), the other side (`wrap`), the volume mirrored, or its outermost voxel "
                  "(`clamp`).",
                  border_words});
  keys.push_back(
      post_key("iterations", ScanKeyType::integer, "", "1", "How often it runs.", {.minimum = 1, .maximum = 100}));
  return keys;
}

ScanKey sigma_key(std::string_view value) {
  return post_key("sigma", ScanKeyType::number, "voxels", value, "Width of the Gaussian.", above_zero);
}

ScanKey sigma_value_key() {
  return post_key("sigma_value", ScanKeyType::number, "", share_of_range,
                  "By how much values may differ that are mixed, as a share of `value_range` (50 of 256).", above_zero);
}

ScanKey mask_radius_key() {
  return optional_key("radius_mm", ScanKeyType::number, "mm",
                      "the largest circle about the axis that fits into the slices",
                      "Distance from the axis beyond which voxels become the constant.", above_zero);
}

ScanKey threshold_key() {
  return optional_key("threshold", ScanKeyType::number, "", "required",
                      "Voxels below it are air, in the volume's unit at this place of the chain.");
}

CorrectionKind hardening_chain() {
  return {"hardening",
          "the slice chain for scans with beam hardening: ring-mask, air, and bilateral smoothing of every slice along "
          "x and then along y.",
          {mask_radius_key(), threshold_key(), constant_key(),
           post_key("radius", ScanKeyType::integer, "voxels", "30", "Smoothing: the mask has 2 radius + 1 voxels.",
                    {.minimum = 1, .maximum = 16000}),
           sigma_key("10.0"), sigma_value_key(), value_range_key(),
           post_key("iterations", ScanKeyType::integer, "", "1", "How often the smoothing runs.",
                    {.minimum = 1, .maximum = 100})}};
}

CorrectionKind rescale_kind() {
  constexpr ScanKeyRange percent{.minimum = 0, .maximum = 100};
  return {
      "rescale",
      "writes integers: the values from a low to a high end become 0 to 255 or 65535, what lies beyond is cut off. "
      "The last step.",
      {post_key("bits", ScanKeyType::integer, "", "16", "8 or 16.", {.minimum = 8, .maximum = 16}),
       post_key("low", ScanKeyType::number, "%", "0.1", "Percentile that becomes 0.", percent),
       post_key("high", ScanKeyType::number, "%", "99.9", "Percentile that becomes the largest integer.", percent),
       optional_key("low_value", ScanKeyType::number, "", "by `low`", "Value that becomes 0."),
       optional_key("high_value", ScanKeyType::number, "", "by `high`", "Value that becomes the largest integer.")}};
}

}  // namespace

std::vector<CorrectionKind> post_kinds() {
  const auto span = [](std::string_view name, std::string_view meaning) {
    return optional_key(name, ScanKeyType::integers, "voxels", "all", meaning, {.minimum = 0}, 2);
  };
  return {
      {"box", "the mean under a mask.", filter_keys("1", {})},
      {"gaussian", "the mean with Gaussian weights, cut off at the radius.", filter_keys("3", {sigma_key("1.0")})},
      {"median", "the middle value under a mask.", filter_keys("1", {})},
      {"bilateral", "the mean with weights that fall with distance and with difference in value.",
       filter_keys("3", {sigma_key("1.5"), sigma_value_key(), value_range_key(),
                         post_key("separate", ScanKeyType::boolean, "", "false",
                                  "In two dimensions: along x, then along y, instead of one square mask; far faster "
                                  "for large radii.")})},
      {"ring-mask",
       "voxels beyond a distance from the axis become a constant.",
       {mask_radius_key(), post_key("center_x_mm", ScanKeyType::number, "mm", "0.0", "Centre of the circle."),
        post_key("center_y_mm", ScanKeyType::number, "mm", "0.0", "Centre of the circle."), constant_key()}},
      {"air", "voxels below a threshold become a constant.", {threshold_key(), constant_key()}},
      hardening_chain(),
      {"hu",
       "Hounsfield units: 1000 (value - water) / (water - air).",
       {optional_key("water", ScanKeyType::number, "", "required", "What water is in this volume: its mu in 1/mm."),
        post_key("air", ScanKeyType::number, "", "0.0", "What air is in this volume.")}},
      {"crop",
       "only a part of the volume.",
       {span("x", "First voxel and the one after the last, counted from 0."), span("y", "The same along y."),
        span("z", "The same along z: slices.")}},
      {"finite", "voxels that are not finite numbers become a constant.", {constant_key()}},
      rescale_kind(),
  };
}

}  // namespace lepus

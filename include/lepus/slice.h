// SPDX-License-Identifier: Apache-2.0
// Slices of a volume as a PNG: one, the three through the middle, or many. They are drawn upright in millimetres:
// across z as seen from +z (x to the right, y up), across y (x right, z up), across x (y right, z up).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <lepus/call.h>
#include <lepus/export.h>

namespace lepus {

enum class Axis { x, y, z };

struct SliceOptions {
  std::filesystem::path volume = {};   // in any format that lepus reads
  std::filesystem::path picture = {};  // the PNG to write

  // One slice across `axis`, by its number from 0 or by its position; neither: the middle.
  Axis axis = Axis::z;
  std::optional<std::int64_t> index = {};
  std::optional<double> position_mm = {};
  bool three = false;                        // instead: three through the middle, with labels; of one slice that alone
  std::optional<std::int64_t> montage = {};  // instead: so many slices spread over the axis, in a grid

  // Values from black to white: a width about its middle, or both ends, or percentiles of what is shown.
  std::optional<double> window = {}, level = {};
  std::optional<double> minimum = {}, maximum = {};  // each replaces an end of the percentiles
  std::vector<double> percentiles = {};              // the lower and the upper; empty: 0.5 and 99.5

  // The longest side of a slice; none: a pixel per voxel, 384 pixels for each of three, 192 in a montage.
  std::optional<std::int64_t> size_pixels = {};
  Call call = {};
};

struct DrawnSlice {
  Axis axis = Axis::z;  // that it lies across
  std::int64_t index = 0;
  double position_mm = 0;
};

struct SliceReport {
  std::int64_t width = 0, height = 0;  // of the picture, in pixels
  double black = 0, white = 0;         // the values shown so
  std::vector<DrawnSlice> slices;
};

// Throws Error(usage) where options contradict each other or there is no such slice.
LEPUS_API SliceReport draw_slices(const SliceOptions& options);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "analysis/picture.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"
#include "core/output_file.h"
#include "io/png_image.h"

namespace lepus {
namespace {

std::uint8_t byte_of(double fraction) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * 255));
}

// Values of one line of pixels from those of a line of voxels: the mean of the voxels that a pixel covers, or the voxel
// under its centre where it covers less than one. Returned as ranges of voxels, the same for every line.
struct VoxelRange {
  std::int64_t first, last;  // half open
};
std::vector<VoxelRange> covered_voxels(std::int64_t voxels, double voxel_mm, std::int64_t pixels, double pixel_mm) {
  std::vector<VoxelRange> ranges(static_cast<std::size_t>(pixels));
  const double ratio = pixel_mm / voxel_mm;
  for (std::int64_t p = 0; p < pixels; ++p) {
    std::int64_t first = static_cast<std::int64_t>((static_cast<double>(p) + 0.5) * ratio), last = first + 1;
    if (ratio > 1) {
      first = std::llround(static_cast<double>(p) * ratio);
      last = std::llround(static_cast<double>(p + 1) * ratio);
    }
    first = std::clamp<std::int64_t>(first, 0, voxels - 1);
    ranges[static_cast<std::size_t>(p)] = {first, std::clamp<std::int64_t>(last, first + 1, voxels)};
  }
  return ranges;
}

}  // namespace

Picture::Picture(std::int64_t w, std::int64_t h, Colour background) : width(w), height(h) {
  rgb.resize(static_cast<std::size_t>(3 * w * h));
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = background[i % 3];
}

void Picture::set(std::int64_t x, std::int64_t y, Colour colour) {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  std::copy(colour.begin(), colour.end(), rgb.begin() + 3 * (y * width + x));
}

void Picture::blend(std::int64_t x, std::int64_t y, Colour colour, std::uint8_t covered) {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  const Colour below = at(x, y);
  for (std::size_t i = 0; i < colour.size(); ++i)
    colour[i] = static_cast<std::uint8_t>((colour[i] * covered + below[i] * (255 - covered) + 127) / 255);
  set(x, y, colour);
}

Colour Picture::at(std::int64_t x, std::int64_t y) const {
  const auto i = static_cast<std::size_t>(3 * (y * width + x));
  return {rgb[i], rgb[i + 1], rgb[i + 2]};
}

void Picture::paste(const Picture& other, std::int64_t x, std::int64_t y) {
  for (std::int64_t j = 0; j < other.height; ++j)
    for (std::int64_t i = 0; i < other.width; ++i) set(x + i, y + j, other.at(i, j));
}

Colour colour_of(double value, const GreyWindow& window, ColourMap map) {
  if (!std::isfinite(value)) return map == ColourMap::grey ? Colour{255, 0, 0} : Colour{0, 0, 0};
  const double t = std::clamp((value - window.low) / (window.high - window.low), 0.0, 1.0);
  if (map == ColourMap::grey) {
    const std::uint8_t grey = byte_of(t);
    return {grey, grey, grey};
  }
  // White in the middle; towards the ends the other two channels fade, so that equal distances look equally strong.
  const double strength = std::abs(2 * t - 1);
  const std::uint8_t own = byte_of(1 - 0.25 * strength), other = byte_of(1 - 0.95 * strength);
  return t < 0.5 ? Colour{other, byte_of(1 - 0.75 * strength), own} : Colour{own, byte_of(1 - 0.9 * strength), other};
}

GreyWindow percentile_window(const std::vector<Slice>& slices, double low_percent, double high_percent) {
  std::vector<float> values;
  for (const Slice& slice : slices) values.insert(values.end(), slice.values.begin(), slice.values.end());
  GreyWindow window{percentile(values, low_percent), percentile(values, high_percent)};
  if (!(window.high > window.low)) {
    // Most of the picture has one value: show everything there is, or a window around the one value.
    window = {percentile(values, 0), percentile(values, 100)};
    if (!(window.high > window.low)) window = {window.low - 0.5, window.low + 0.5};
  }
  return window;
}

GreyWindow symmetric_window(const std::vector<Slice>& slices, double percent) {
  std::vector<float> values;
  for (const Slice& slice : slices)
    for (const float value : slice.values) values.push_back(std::abs(value));
  double limit = percentile(values, percent);
  if (!(limit > 0)) limit = percentile(values, 100);
  if (!(limit > 0)) limit = 1;
  return {-limit, limit};
}

Picture draw_slice(const Slice& slice, const GreyWindow& window, ColourMap map, double pixel_mm) {
  const auto pixels = [&](std::int64_t voxels, double voxel_mm) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(voxels) * voxel_mm / pixel_mm));
  };
  Picture picture(pixels(slice.width, slice.pixel_width_mm), pixels(slice.height, slice.pixel_height_mm), {0, 0, 0});
  const auto columns = covered_voxels(slice.width, slice.pixel_width_mm, picture.width, pixel_mm);
  const auto rows = covered_voxels(slice.height, slice.pixel_height_mm, picture.height, pixel_mm);
  for (std::int64_t y = 0; y < picture.height; ++y) {
    const VoxelRange row = rows[static_cast<std::size_t>(y)];
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const VoxelRange column = columns[static_cast<std::size_t>(x)];
      double sum = 0;
      for (std::int64_t j = row.first; j < row.last; ++j)
        for (std::int64_t i = column.first; i < column.last; ++i)
          sum += slice.values[static_cast<std::size_t>(j * slice.width + i)];
      const auto count = static_cast<double>((row.last - row.first) * (column.last - column.first));
      picture.set(x, y, colour_of(sum / count, window, map));
    }
  }
  return picture;
}

std::string png_bytes(const Picture& picture, const std::string& name) {
  std::vector<std::uint8_t> grey;
  grey.reserve(picture.rgb.size() / 3);
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    if (picture.rgb[i] != picture.rgb[i + 1] || picture.rgb[i] != picture.rgb[i + 2])
      return png_of_rgb(picture.width, picture.height, picture.rgb.data(), name);
    grey.push_back(picture.rgb[i]);
  }
  return png_of_grey(picture.width, picture.height, grey.data(), name);
}

void save_png(const Picture& picture, const std::filesystem::path& path, bool force) {
  check_target(path, force);  // before the work of compressing
  write_file(path, png_bytes(picture, path.string()), force);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// Slices as pictures: grey levels through a window, square pixels whatever the voxels. Labels: analysis/draw_text.h.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/slices.h"

namespace lepus {

using Colour = std::array<std::uint8_t, 3>;

struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // rows from the top, three bytes a pixel

  Picture() = default;
  Picture(std::int64_t w, std::int64_t h, Colour background);
  void set(std::int64_t x, std::int64_t y, Colour colour);  // nothing outside the picture
  // The colour over what is there: covered 0 leaves the pixel as it is, 255 sets it. Nothing outside the picture.
  void blend(std::int64_t x, std::int64_t y, Colour colour, std::uint8_t covered);
  Colour at(std::int64_t x, std::int64_t y) const;
  void paste(const Picture& other, std::int64_t x, std::int64_t y);
};

// Values from low to high are shown from black to white.
struct GreyWindow {
  double low = 0, high = 1;
};

enum class ColourMap {
  grey,      // black to white; not finite: red
  diverging  // blue at low over white in the middle to red at high; not finite: black
};
Colour colour_of(double value, const GreyWindow& window, ColourMap map);

// From the percentiles of all slices' values; never empty.
GreyWindow percentile_window(const std::vector<Slice>& slices, double low_percent, double high_percent);

// Symmetric about zero: the given percentile of the absolute values.
GreyWindow symmetric_window(const std::vector<Slice>& slices, double percent);

// The slice with square pixels of `pixel_mm`: voxels that are larger are repeated, smaller ones are averaged.
Picture draw_slice(const Slice& slice, const GreyWindow& window, ColourMap map, double pixel_mm);

// PNG of 8 bits per channel; grey where no pixel has a colour. `name` is for messages.
std::string png_bytes(const Picture& picture, const std::string& name);
// The same as a file. Throws Error(disk) where the file exists, unless forced.
void save_png(const Picture& picture, const std::filesystem::path& path, bool force);

}  // namespace lepus

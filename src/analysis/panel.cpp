// SPDX-License-Identifier: Apache-2.0
#include "analysis/panel.h"

#include <algorithm>
#include <cmath>

#include "analysis/draw_text.h"
#include "core/format.h"

namespace lepus {
namespace {

constexpr Colour paper{255, 255, 255}, ink{20, 20, 20}, soft_ink{110, 110, 110};
constexpr std::int64_t gap = 12, bar_width = 16, bar_gap = 6;
constexpr TextStyle label_style{16, ink}, caption_style{16, soft_ink};

double width_mm(const Slice& slice) { return static_cast<double>(slice.width) * slice.pixel_width_mm; }
double height_mm(const Slice& slice) { return static_cast<double>(slice.height) * slice.pixel_height_mm; }

// Millimetres per pixel so that the longest side is about `cell_pixels`: a whole number of pixels per voxel, or of
// voxels per pixel, so that no voxel looks larger than its neighbour.
double pixel_size(const std::vector<const Slice*>& slices, std::int64_t cell_pixels) {
  double longest = 0, finest = 0;
  for (const Slice* slice : slices) {
    longest = std::max({longest, width_mm(*slice), height_mm(*slice)});
    const double fine = std::min(slice->pixel_width_mm, slice->pixel_height_mm);
    finest = finest == 0 ? fine : std::min(finest, fine);
  }
  const double per_voxel = static_cast<double>(cell_pixels) * finest / longest;
  return per_voxel >= 1 ? finest / std::floor(per_voxel) : finest * std::ceil(1 / per_voxel);
}

std::int64_t pixels(double mm, double pixel_mm) { return std::max<std::int64_t>(1, std::llround(mm / pixel_mm)); }

std::string caption(const Slice& slice) {
  return format("{}{}   {} = {} mm", slice.right(), slice.up(), letter(slice.request.axis),
                with_minus_signs(format("{:.4g}", slice.position_mm == 0 ? 0.0 : slice.position_mm)));
}

// The row's name stands before the caption of its first slice.
std::int64_t caption_offset(const PanelRow& row, std::size_t column) {
  return column == 0 && !row.label.empty() ? text_width(row.label, label_style) + gap : 0;
}

std::string bar_label(const PanelRow& row, double value) {
  const bool is_rounding = std::abs(value) < 1e-6 * (row.window.high - row.window.low);
  return with_minus_signs(format("{:.3g}", is_rounding ? 0.0 : value));
}

// A vertical bar from high (top) to low, with its values beside it.
void draw_bar(Picture& picture, const PanelRow& row, std::int64_t x, std::int64_t y, std::int64_t height) {
  for (std::int64_t j = 0; j < height; ++j) {
    const double t = 1 - (static_cast<double>(j) + 0.5) / static_cast<double>(height);
    const Colour colour = colour_of(row.window.low + t * (row.window.high - row.window.low), row.window, row.map);
    for (std::int64_t i = 0; i < bar_width; ++i)
      picture.set(x + i, y + j, i == 0 || i == bar_width - 1 || j == 0 || j == height - 1 ? soft_ink : colour);
  }
  const std::int64_t text_x = x + bar_width + bar_gap;
  draw_text(picture, bar_label(row, row.window.high), text_x, y, label_style);
  draw_text(picture, bar_label(row, row.window.low), text_x, y + height - line_height(label_style), label_style);
}

// Of the bars, with the widest of their values.
std::int64_t bar_room(const std::vector<PanelRow>& rows) {
  std::int64_t widest = 0;
  for (const PanelRow& row : rows)
    for (const double value : {row.window.low, row.window.high})
      widest = std::max(widest, text_width(bar_label(row, value), label_style));
  return bar_width + bar_gap + widest;
}

}  // namespace

Picture draw_panel(const std::vector<PanelRow>& rows, const PanelOptions& options) {
  if (rows.empty() || rows.front().slices.empty()) return Picture(1, 1, paper);
  std::vector<const Slice*> all;
  for (const PanelRow& row : rows)
    for (const Slice& slice : row.slices) all.push_back(&slice);
  const double pixel_mm = pixel_size(all, options.cell_pixels);

  // Columns are as wide as their widest slice or caption, rows as high as their highest slice or the bar's two values.
  std::vector<std::int64_t> widths(rows.front().slices.size()), heights(rows.size(), 2 * line_height(label_style));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < rows[r].slices.size(); ++c) {
      const Slice& slice = rows[r].slices[c];
      const std::int64_t text = caption_offset(rows[r], c) + text_width(caption(slice), caption_style);
      widths[c] = std::max({widths[c], pixels(width_mm(slice), pixel_mm), text});
      heights[r] = std::max(heights[r], pixels(height_mm(slice), pixel_mm));
    }
  const std::int64_t line = line_height(label_style) + 4;
  const std::int64_t title = options.title.empty() ? 0 : line + gap / 2;
  std::int64_t width = gap + bar_room(rows) + gap, height = gap + title;
  for (const auto w : widths) width += w + gap;
  for (const auto h : heights) height += line + h + gap;
  width = std::max(width, text_width(options.title, label_style) + 2 * gap);

  Picture picture(width, height, paper);
  draw_text(picture, options.title, gap, gap, label_style);
  std::int64_t y = gap + title;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::int64_t x = gap;
    for (std::size_t c = 0; c < rows[r].slices.size(); ++c) {
      const Slice& slice = rows[r].slices[c];
      if (c == 0) draw_text(picture, rows[r].label, x, y, label_style);
      draw_text(picture, caption(slice), x + caption_offset(rows[r], c), y, caption_style);
      picture.paste(draw_slice(slice, rows[r].window, rows[r].map, pixel_mm), x, y + line);
      x += widths[c] + gap;
    }
    draw_bar(picture, rows[r], x, y + line, heights[r]);
    y += line + heights[r] + gap;
  }
  return picture;
}

Picture comparison_panel(const std::string& reference_label, const std::vector<Slice>& reference,
                         const std::string& volume_label, const std::vector<Slice>& volume,
                         const PanelOptions& options) {
  const GreyWindow window = percentile_window(reference, 0.5, 99.5);
  std::vector<Slice> differences;
  for (std::size_t i = 0; i < reference.size(); ++i) differences.push_back(difference(reference[i], volume[i]));
  const GreyWindow difference_window = symmetric_window(differences, 99);
  return draw_panel({{reference_label, reference, window, ColourMap::grey},
                     {volume_label, volume, window, ColourMap::grey},
                     {"difference", differences, difference_window, ColourMap::diverging}},
                    options);
}

Picture draw_montage(const std::vector<Slice>& slices, const GreyWindow& window, std::int64_t cell_pixels) {
  if (slices.empty()) return Picture(1, 1, paper);
  std::vector<const Slice*> all;
  all.reserve(slices.size());
  for (const Slice& slice : slices) all.push_back(&slice);
  const double pixel_mm = pixel_size(all, cell_pixels);
  std::int64_t cell_width = 0, cell_height = 0;
  for (const Slice& slice : slices) {
    cell_width = std::max(cell_width, pixels(width_mm(slice), pixel_mm));
    cell_height = std::max(cell_height, pixels(height_mm(slice), pixel_mm));
  }
  const auto count = static_cast<std::int64_t>(slices.size());
  // As many columns as make the whole about 4:3.
  const double wanted = std::sqrt(static_cast<double>(count) * 4.0 / 3.0 * static_cast<double>(cell_height) /
                                  static_cast<double>(cell_width));
  const std::int64_t columns = std::clamp<std::int64_t>(std::llround(wanted), 1, count);
  const std::int64_t rows = (count + columns - 1) / columns;
  Picture picture(columns * (cell_width + 2) - 2, rows * (cell_height + 2) - 2, paper);
  for (std::int64_t i = 0; i < count; ++i) {
    const Slice& slice = slices[static_cast<std::size_t>(i)];
    const std::int64_t x = i % columns * (cell_width + 2), y = i / columns * (cell_height + 2);
    picture.paste(draw_slice(slice, window, ColourMap::grey, pixel_mm), x, y);
    const std::string label = format("{}", slice.request.index);
    draw_text(picture, label, x + 5, y + 3, {14, {0, 0, 0}});  // a shadow, so that it reads on white as well
    draw_text(picture, label, x + 4, y + 2, {14, {255, 220, 0}});
  }
  return picture;
}

}  // namespace lepus

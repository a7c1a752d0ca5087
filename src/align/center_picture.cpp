// SPDX-License-Identifier: Apache-2.0
#include "align/center_picture.h"

#include <algorithm>
#include <cmath>

#include "analysis/draw_text.h"
#include "core/format.h"

namespace lepus {
namespace {

constexpr Colour paper{255, 255, 255}, ink{30, 30, 30}, mark{200, 30, 30}, faint{210, 210, 210};
constexpr std::int64_t picture_margin = 12, plot_height = 200;
constexpr TextStyle label_style{16, ink}, small_style{13, ink};

void draw_line(Picture& picture, double x0, double y0, double x1, double y1, Colour colour) {
  const int steps = static_cast<int>(std::ceil(std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0})));
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    picture.set(std::llround(x0 + t * (x1 - x0)), std::llround(y0 + t * (y1 - y0)), colour);
  }
}

// The curve, with the found column in red.
void draw_curve(Picture& picture, const CenterResult& result, std::int64_t top, std::int64_t width) {
  std::vector<ScorePoint> curve = result.curve;
  std::erase_if(curve, [](const ScorePoint& p) { return !std::isfinite(p.score); });
  if (curve.size() < 2) return;
  double low = curve.front().score, high = low;
  for (const ScorePoint& p : curve) {
    low = std::min(low, p.score);
    high = std::max(high, p.score);
  }
  if (!(high > low)) high = low + 1;
  const double first = curve.front().column, last = curve.back().column;
  const auto x = [&](double column) {
    return static_cast<double>(picture_margin) + (column - first) / (last - first) * static_cast<double>(width);
  };
  const auto y = [&](double score) {
    return static_cast<double>(top) + (high - score) / (high - low) * static_cast<double>(plot_height);
  };
  const auto bottom = static_cast<double>(top + plot_height);
  draw_line(picture, x(first), bottom, x(last), bottom, faint);
  draw_line(picture, x(result.column), static_cast<double>(top), x(result.column), bottom, mark);
  for (std::size_t i = 1; i < curve.size(); ++i)
    draw_line(picture, x(curve[i - 1].column), y(curve[i - 1].score), x(curve[i].column), y(curve[i].score), ink);
  const std::int64_t below = top + plot_height + 4;
  draw_text(picture, with_minus_signs(format("{:.1f}", first)), picture_margin, below, small_style);
  const std::string end = with_minus_signs(format("{:.1f}", last));
  draw_text(picture, end, picture_margin + width - text_width(end, small_style), below, small_style);
}

Slice as_slice(const TrialImage& image) {
  Slice slice;
  slice.width = slice.height = image.size;
  slice.pixel_width_mm = slice.pixel_height_mm = image.pixel_mm;
  slice.values = image.values;
  return slice;
}

}  // namespace

Picture center_picture(const CenterResult& result, const std::vector<TrialImage>& trials) {
  std::vector<Slice> slices;
  slices.reserve(trials.size());
  for (const TrialImage& trial : trials) slices.push_back(as_slice(trial));
  const std::int64_t cell = trials.empty() ? 300 : std::clamp<std::int64_t>(trials.front().size, 160, 240);
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(trials.size()));
  const std::string title =
      format("axis on column {}, in-plane {}°, by {}", with_minus_signs(format("{:.2f}", result.column)),
             with_minus_signs(format("{:.3f}", result.in_plane_deg)), name_of(result.method));
  const std::int64_t width = std::max(count * cell + (count - 1) * picture_margin, text_width(title, label_style));
  const std::int64_t label_height = line_height(label_style) + 4;
  const std::int64_t top = picture_margin + label_height;
  const std::int64_t images = top + plot_height + line_height(small_style) + 4 + picture_margin;
  Picture picture(width + 2 * picture_margin, images + (trials.empty() ? 0 : label_height + cell + picture_margin),
                  paper);
  draw_text(picture, title, picture_margin, picture_margin, label_style);
  draw_curve(picture, result, top, width);
  if (trials.empty()) return picture;
  const GreyWindow window = percentile_window(slices, 0.5, 99.5);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::int64_t x = picture_margin + static_cast<std::int64_t>(i) * (cell + picture_margin);
    const bool found = std::abs(trials[i].column - result.column) < 1e-6;
    draw_text(picture, with_minus_signs(format("{:.2f}", trials[i].column)), x, images,
              {label_style.size_px, found ? mark : ink});
    const double pixel = static_cast<double>(trials[i].size) * trials[i].pixel_mm / static_cast<double>(cell);
    picture.paste(draw_slice(slices[i], window, ColourMap::grey, pixel), x, images + label_height);
  }
  return picture;
}

}  // namespace lepus

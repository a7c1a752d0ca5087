// SPDX-License-Identifier: Apache-2.0
#include "api/preview_page.h"

#include <algorithm>
#include <cmath>

#include "analysis/draw_text.h"
#include "api/html_text.h"
#include "core/format.h"
#include "correct/rings/ring_energy.h"

namespace lepus {
namespace {

constexpr std::int64_t preview_gap = 12, preview_cell = 360;
constexpr Colour preview_paper{255, 255, 255}, preview_ink{20, 20, 20}, preview_soft_ink{110, 110, 110};
constexpr TextStyle preview_title{16, preview_ink}, preview_name{20, preview_ink}, preview_number{13, preview_soft_ink};

std::vector<Slice> preview_differences(const std::vector<DrawnVersion>& versions, std::size_t all) {
  std::vector<Slice> list;
  list.reserve(versions.size());
  for (const DrawnVersion& version : versions) list.push_back(difference(versions[all].slice, version.slice));
  return list;
}

double longest_side_mm(const Slice& slice) {
  return std::max(static_cast<double>(slice.width) * slice.pixel_width_mm,
                  static_cast<double>(slice.height) * slice.pixel_height_mm);
}

// Energy against the version without corrections, which is the first.
double preview_rings_db(const DrawnVersion& version, const DrawnVersion& first) {
  return decibels(version.numbers.rings_per_mm * version.numbers.rings_per_mm,
                  first.numbers.rings_per_mm * first.numbers.rings_per_mm);
}

}  // namespace

PreviewWindows preview_windows(const std::vector<DrawnVersion>& versions, const PreviewFacts& facts) {
  return {percentile_window({versions[facts.all].slice}, 0.5, 99.5),
          symmetric_window(preview_differences(versions, facts.all), 99)};
}

Picture preview_picture(const std::vector<DrawnVersion>& versions, const PreviewFacts& facts) {
  const auto differences = preview_differences(versions, facts.all);
  const PreviewWindows windows = preview_windows(versions, facts);
  const double pixel_mm = longest_side_mm(versions.front().slice) / static_cast<double>(preview_cell);
  std::vector<Picture> slices, changes;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    slices.push_back(draw_slice(versions[i].slice, windows.values, ColourMap::grey, pixel_mm));
    changes.push_back(draw_slice(differences[i], windows.differences, ColourMap::diverging, pixel_mm));
  }
  const auto numbers = [&](const DrawnVersion& v) {
    return with_minus_signs(format("rings {:.2e} ({:+.1f} dB)   noise {:.2e}   sharp {:.2e}", v.numbers.rings_per_mm,
                                   preview_rings_db(v, versions.front()), v.numbers.noise_per_mm,
                                   v.numbers.gradient_energy));
  };
  const std::string change =
      format("minus {}; ", versions[facts.all].numbers.name) +
      with_minus_signs(format("{:.2e} to {:.2e}", windows.differences.low, windows.differences.high));
  const std::string title = format("{}   {}", facts.scan, facts.place);

  // Columns are as wide as the slices or the widest text.
  std::int64_t width = std::max(slices.front().width, text_width(change, preview_number));
  for (const DrawnVersion& v : versions)
    width = std::max({width, text_width(v.numbers.name, preview_name), text_width(numbers(v), preview_number)});
  const std::int64_t height = slices.front().height, number_line = line_height(preview_number) + 4;
  const std::int64_t top = preview_gap + line_height(preview_title) + preview_gap;
  const std::int64_t first_row = top + line_height(preview_name) + number_line,
                     second_row = first_row + height + preview_gap;
  const std::int64_t all_columns = static_cast<std::int64_t>(versions.size()) * (width + preview_gap) - preview_gap;
  const std::int64_t bottom = versions.size() == 1 ? second_row : second_row + number_line + height + preview_gap;
  Picture picture(preview_gap + std::max(all_columns, text_width(title, preview_title)) + preview_gap, bottom,
                  preview_paper);
  draw_text(picture, title, preview_gap, preview_gap, preview_title);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::int64_t x = preview_gap + static_cast<std::int64_t>(i) * (width + preview_gap);
    draw_text(picture, versions[i].numbers.name, x, top, preview_name);
    draw_text(picture, numbers(versions[i]), x, top + line_height(preview_name), preview_number);
    picture.paste(slices[i], x, first_row);
    if (i == facts.all) continue;
    draw_text(picture, change, x, second_row, preview_number);
    picture.paste(changes[i], x, second_row + number_line);
  }
  return picture;
}

std::string preview_html(const std::vector<DrawnVersion>& versions, const PreviewFacts& facts,
                         const PreviewPngs& pngs) {
  const PreviewWindows windows = preview_windows(versions, facts);
  const auto image = [](const std::string& png) {
    return png.empty() ? std::string() : format("<img src=\"data:image/png;base64,{}\" alt=\"\">", base64(png));
  };
  const std::string all = html_text(versions[facts.all].numbers.name);
  std::string text = format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>lepus preview: {0}</title>\n<style>\n"
      "body {{ font: 15px/1.45 sans-serif; margin: 1.5em; background: #fff; color: #222; }}\n"
      "table {{ border-collapse: collapse; }}\ntd, th {{ padding: 0.3em 0.9em; text-align: right; border-bottom: 1px "
      "solid #ddd; }}\ntd:first-child, th:first-child {{ text-align: left; }}\n"
      ".versions {{ display: flex; flex-wrap: wrap; gap: 1.2em; margin-top: 1.5em; }}\n"
      "figure {{ margin: 0; width: 24em; }}\nimg {{ width: 100%; image-rendering: pixelated; background: #eee; }}\n"
      "figcaption {{ font-weight: bold; }}\n.small {{ color: #666; font-size: 13px; }}\n</style></head><body>\n"
      "<h1>{0}</h1>\n<p>{1}. Grey from {2:.4g} to {3:.4g} per mm; differences from \"{4}\" from {5:.3g} (blue) to "
      "{6:.3g} "
      "(red).</p>\n<table><tr><th>version</th><th>rings, 1/mm</th><th>rings, dB</th><th>noise, 1/mm</th><th>gradient "
      "energy, 1/mm<sup>4</sup></th><th>time, s</th></tr>\n",
      html_text(facts.scan), html_text(facts.place), windows.values.low, windows.values.high, all,
      windows.differences.low, windows.differences.high);
  for (const DrawnVersion& v : versions)
    text += format("<tr><td>{}</td><td>{:.3e}</td><td>{:+.1f}</td><td>{:.3e}</td><td>{:.3e}</td><td>{:.2f}</td></tr>\n",
                   html_text(v.numbers.name), v.numbers.rings_per_mm, preview_rings_db(v, versions.front()),
                   v.numbers.noise_per_mm, v.numbers.gradient_energy, v.numbers.seconds);
  text += format(
      "</table>\n<p class=\"small\">Rings: root mean square of what stays the same around the axis, and its energy "
      "against the "
      "first version. Noise: standard deviation from a plane in {}, where the object is flattest. Gradient energy "
      "grows "
      "with sharpness and with noise.</p>\n<div class=\"versions\">\n",
      html_text(facts.flat_region));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    text += format("<figure><figcaption>{}</figcaption>{}", html_text(versions[i].numbers.name), image(pngs.slices[i]));
    if (!pngs.differences[i].empty())
      text += format("<p class=\"small\">minus \"{}\"</p>{}", all, image(pngs.differences[i]));
    for (const std::string& found : versions[i].numbers.corrections)
      text += format("<p class=\"small\">{}</p>", html_text(found));
    text += "</figure>\n";
  }
  return text + "</div></body></html>\n";
}

}  // namespace lepus

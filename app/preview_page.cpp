// SPDX-License-Identifier: Apache-2.0
#include "app/preview_page.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "correct/rings/ring_energy.h"

namespace lepus::app {
namespace {

constexpr std::int64_t gap = 12, line = 18, cell = 360;
constexpr int text_scale = 1;
constexpr Colour paper{255, 255, 255}, ink{20, 20, 20}, soft_ink{110, 110, 110};

std::vector<Slice> differences_of(const std::vector<PreviewVersion>& versions, std::size_t all) {
  std::vector<Slice> list;
  list.reserve(versions.size());
  for (const PreviewVersion& version : versions) list.push_back(difference(versions[all].slice, version.slice));
  return list;
}

double longest_mm(const Slice& slice) {
  return std::max(static_cast<double>(slice.width) * slice.pixel_width_mm,
                  static_cast<double>(slice.height) * slice.pixel_height_mm);
}

// Energy against the version without corrections, which is the first.
double rings_db(const PreviewVersion& version, const PreviewVersion& first) {
  return decibels(version.rings * version.rings, first.rings * first.rings);
}

}  // namespace

PreviewWindows preview_windows(const std::vector<PreviewVersion>& versions, const PreviewFacts& facts) {
  return {percentile_window({versions[facts.all].slice}, 0.5, 99.5),
          symmetric_window(differences_of(versions, facts.all), 99)};
}

Picture preview_picture(const std::vector<PreviewVersion>& versions, const PreviewFacts& facts) {
  const auto differences = differences_of(versions, facts.all);
  const PreviewWindows windows = preview_windows(versions, facts);
  const double pixel_mm = longest_mm(versions.front().slice) / static_cast<double>(cell);
  std::vector<Picture> slices, changes;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    slices.push_back(draw_slice(versions[i].slice, windows.values, ColourMap::grey, pixel_mm));
    changes.push_back(draw_slice(differences[i], windows.differences, ColourMap::diverging, pixel_mm));
  }
  const std::int64_t width = slices.front().width, height = slices.front().height;
  const auto count = static_cast<std::int64_t>(versions.size());
  Picture picture(gap + count * (width + gap), gap + 4 * line + 2 * (height + gap) + line, paper);
  draw_text(picture, format("{}  {}", facts.scan, facts.place), gap, gap, text_scale, ink);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const PreviewVersion& v = versions[i];
    const std::int64_t x = gap + static_cast<std::int64_t>(i) * (width + gap);
    std::int64_t y = gap + line;
    draw_text(picture, v.name, x, y, 2 * text_scale, ink);
    draw_text(picture,
              format("rings {:.2e} ({:+.1f} dB)  noise {:.2e}  sharp {:.2e}", v.rings, rings_db(v, versions.front()),
                     v.noise, v.sharpness),
              x, y += line, text_scale, soft_ink);
    picture.paste(slices[i], x, y += line);
    y += height + gap;
    draw_text(picture,
              i == facts.all ? ""
                             : format("minus {}; {:.2e} to {:.2e}", versions[facts.all].name, windows.differences.low,
                                      windows.differences.high),
              x, y, text_scale, soft_ink);
    if (i != facts.all) picture.paste(changes[i], x, y + line);
  }
  return picture;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string html_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

std::string preview_html(const std::vector<PreviewVersion>& versions, const PreviewFacts& facts,
                         const PreviewPngs& pngs) {
  const PreviewWindows windows = preview_windows(versions, facts);
  const auto image = [](const std::string& png) {
    return png.empty() ? std::string() : format("<img src=\"data:image/png;base64,{}\" alt=\"\">", base64(png));
  };
  const std::string all = html_text(versions[facts.all].name);
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
  for (const PreviewVersion& v : versions)
    text += format("<tr><td>{}</td><td>{:.3e}</td><td>{:+.1f}</td><td>{:.3e}</td><td>{:.3e}</td><td>{:.2f}</td></tr>\n",
                   html_text(v.name), v.rings, rings_db(v, versions.front()), v.noise, v.sharpness, v.seconds);
  text += format(
      "</table>\n<p class=\"small\">Rings: root mean square of what stays the same around the axis, and its energy "
      "against the "
      "first version. Noise: standard deviation from a plane in {}, where the object is flattest. Gradient energy "
      "grows "
      "with sharpness and with noise.</p>\n<div class=\"versions\">\n",
      html_text(facts.flat_region));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    text += format("<figure><figcaption>{}</figcaption>{}", html_text(versions[i].name), image(pngs.slices[i]));
    if (!pngs.differences[i].empty())
      text += format("<p class=\"small\">minus \"{}\"</p>{}", all, image(pngs.differences[i]));
    for (const std::string& found : versions[i].found) text += format("<p class=\"small\">{}</p>", html_text(found));
    text += "</figure>\n";
  }
  return text + "</div></body></html>\n";
}

}  // namespace lepus::app

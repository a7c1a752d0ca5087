// SPDX-License-Identifier: Apache-2.0
#include "app/analyze_report.h"

#include <algorithm>
#include <cmath>

#include "analysis/picture.h"
#include "analysis/statistics.h"
#include "api/html_text.h"
#include "app/quality_report.h"
#include "core/format.h"
#include "plot/chart.h"

namespace lepus::app {
namespace {

using analysis::Analysis;
using analysis::Blob;
using Json = nlohmann::ordered_json;

constexpr std::size_t blobs_on_page = 25;

// null where that is not known of them.
Json count_open(const std::vector<Blob>& blobs) {
  if (std::any_of(blobs.begin(), blobs.end(), [](const Blob& b) { return !b.open.has_value(); })) return {};
  return std::count_if(blobs.begin(), blobs.end(), [](const Blob& b) { return b.open.value_or(false); });
}

double median_diameter_mm(const std::vector<Blob>& blobs) {
  std::vector<double> diameters;
  diameters.reserve(blobs.size());
  for (const Blob& b : blobs) diameters.push_back(b.diameter_mm);
  if (diameters.empty()) return 0;
  const auto middle = diameters.begin() + static_cast<std::ptrdiff_t>(diameters.size() / 2);
  std::nth_element(diameters.begin(), middle, diameters.end());
  if (diameters.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(diameters.begin(), middle)) / 2;
}

std::string percent(double share) { return format("{:.4f} %", 100 * share); }

std::string thresholds_text(const Analysis& a) {
  std::string text;
  for (const double t : a.phase->thresholds) text += (text.empty() ? "" : ", ") + format("{:.6g}", t);
  return text;
}

// What the page, the terminal and people want first.
SummaryRows summary(const Analysis& a, const AnalyzeFacts& f) {
  SummaryRows rows;
  const VolumeGrid& g = f.grid;
  rows.emplace_back("volume", format("{}: {} x {} x {} voxels of {:g} x {:g} x {:g} mm", f.volume, g.nx, g.ny, g.nz,
                                     std::abs(g.step_mm.x), std::abs(g.step_mm.y), std::abs(g.step_mm.z)));
  rows.emplace_back("region", format("{}: {} voxels", f.region, a.inside));
  if (a.survey.not_finite > 0) rows.emplace_back("not finite", format("{} voxels, left out", a.survey.not_finite));
  if (a.sample) {
    rows.emplace_back("air", format("{} voxels taken away", a.sample->air));
    if (a.sample->container > 0) rows.emplace_back("container", format("{} voxels taken away", a.sample->container));
    if (a.sample->specks > 0) rows.emplace_back("specks", format("{} in the air, taken away", a.sample->specks));
  }
  add_quality_rows(a, f, rows);
  if (!a.phase) return rows;
  const std::string values = thresholds_text(a);
  rows.emplace_back("threshold", values.empty()
                                     ? f.threshold
                                     : format("{}: {}{}", f.threshold, values, f.unit.empty() ? "" : " " + f.unit));
  rows.emplace_back("phase", format("{}: {} voxels, {}", f.phase, a.phase_inside,
                                    percent(static_cast<double>(a.phase_inside) / static_cast<double>(a.inside))));
  rows.emplace_back("values",
                    format("{:.5g} ± {:.3g} in the phase, {:.5g} ± {:.3g} elsewhere; contrast to noise {:.3g}",
                           a.phase_values.mean, a.phase_values.spread, a.rest_values.mean, a.rest_values.spread,
                           analysis::contrast_to_noise(a.phase_values, a.rest_values)));
  if (a.porosity) {
    rows.emplace_back("porosity", percent(a.porosity->share(a.porosity->phase)));
    rows.emplace_back("open", percent(a.porosity->share(a.porosity->open)));
    rows.emplace_back("closed", percent(a.porosity->share(a.porosity->closed())));
  }
  if (!a.blobs.empty() || a.left_out > 0) {
    rows.emplace_back("blobs", format("{}, median diameter {:.5g} mm", a.blobs.size(), median_diameter_mm(a.blobs)));
    if (a.left_out > 0)
      rows.emplace_back("left out",
                        format("{} blobs of {} voxels, by their size or as open", a.left_out, a.left_out_voxels));
  }
  const auto thickness = [&](const char* name, const std::optional<analysis::ThicknessResult>& t) {
    if (t)
      rows.emplace_back(
          name, format("mean {:.5g} mm, spread {:.4g} mm, largest {:.5g} mm", t->mean_mm, t->spread_mm, t->largest_mm));
  };
  thickness("thickness", a.thickness);
  thickness("walls", a.wall);
  return rows;
}

// A colour that neighbouring numbers do not share: steps of the golden section around the circle of hues.
Colour label_colour(std::int64_t label) {
  const double hue = std::fmod(static_cast<double>(label) * 0.6180339887498949, 1.0) * 6;
  const auto channel = [&](double shift) {
    const double k = std::fmod(hue + shift, 6.0);
    const double v = std::clamp(std::min(k, 4 - k), 0.0, 1.0);
    return static_cast<std::uint8_t>(std::lround(60 + 195 * v));
  };
  return {channel(2), channel(0), channel(4)};
}

// The same slice with square pixels of whole voxels where they are large: what draw_slice does, and blobs over it.
Picture overlay(const Slice& values, const Slice& marks, bool labels, const GreyWindow& window, double pixel_mm) {
  Picture picture = draw_slice(values, window, ColourMap::grey, pixel_mm);
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const std::int64_t column = std::min(marks.width - 1, x * marks.width / picture.width);
      const std::int64_t row = std::min(marks.height - 1, y * marks.height / picture.height);
      const auto mark = static_cast<std::int64_t>(marks.values[static_cast<std::size_t>(row * marks.width + column)]);
      if (labels && mark > 0) picture.blend(x, y, label_colour(mark), 190);
      if (!labels && mark == 2) picture.blend(x, y, {240, 90, 40}, 190);
      if (!labels && mark == 0) picture.blend(x, y, {40, 70, 130}, 120);
    }
  return picture;
}

std::string image(const Picture& picture) {
  return format("<img src=\"data:image/png;base64,{}\" alt=\"\">", base64(png_bytes(picture, "report")));
}

std::string pictures(const Analysis& a, const AnalyzeFacts& f) {
  if (f.slices.empty()) return {};
  const GreyWindow window = percentile_window(f.slices, 0.5, 99.5);
  double longest = 0, finest = 1e300;
  for (const Slice& s : f.slices) {
    longest = std::max(
        {longest, static_cast<double>(s.width) * s.pixel_width_mm, static_cast<double>(s.height) * s.pixel_height_mm});
    finest = std::min({finest, s.pixel_width_mm, s.pixel_height_mm});
  }
  const double pixel_mm = std::max(finest, longest / 768);  // no picture of more than 768 pixels
  std::string text = "<div class=\"pictures\">\n";
  for (std::size_t i = 0; i < f.slices.size(); ++i) {
    const Slice& s = f.slices[i];
    const bool labels = !f.labels.empty();
    text += format(
        "<figure><figcaption>{} = {:.4g} mm ({} right, {} up)</figcaption>{}{}</figure>\n", letter(s.request.axis),
        s.position_mm, s.right(), s.up(), image(draw_slice(s, window, ColourMap::grey, pixel_mm)),
        a.phase ? image(overlay(s, labels ? f.labels[i] : a.phase_slices[i], labels, window, pixel_mm)) : "");
  }
  const char* const below = !a.phase           ? ""
                            : f.labels.empty() ? " Below: the phase in orange, what is outside in blue."
                                               : " Below: each blob in a colour of its own.";
  return text + format("</div>\n<p class=\"small\">Grey from {:.4g} to {:.4g}{}.{}</p>\n", window.low, window.high,
                       f.unit.empty() ? "" : " " + html_text(f.unit), below);
}

std::string histogram_chart(const Analysis& a, const AnalyzeFacts& f) {
  constexpr std::size_t points = 128;
  const analysis::Histogram& h = a.histogram;
  const std::size_t group = (h.counts.size() + points - 1) / points;
  plot::Line counts{"voxels", {}, {}};
  double most = 1;
  for (std::size_t i = 0; i < h.counts.size(); i += group) {
    const std::size_t end = std::min(h.counts.size(), i + group);
    double sum = 0;
    for (std::size_t k = i; k < end; ++k) sum += static_cast<double>(h.counts[k]);
    counts.x.push_back((h.centre(i) + h.centre(end - 1)) / 2);
    counts.y.push_back(sum);
    most = std::max(most, sum);
  }
  plot::LineChart chart{"Values", f.unit.empty() ? "value" : f.unit, "voxels", false, true, {counts}};
  if (a.phase)
    for (const double t : a.phase->thresholds) chart.lines.push_back({format("{:.4g}", t), {t, t}, {1, most}});
  return plot::svg(chart);
}

std::string slices_chart(const Analysis& a, const AnalyzeFacts& f) {
  plot::Line line{"phase", {}, {}};
  const auto& p = *a.porosity;
  const std::size_t step = (p.slice_inside.size() + 127) / 128;
  for (std::size_t z = 0; z < p.slice_inside.size(); z += step) {
    std::int64_t inside = 0, phase = 0;
    for (std::size_t k = z; k < std::min(p.slice_inside.size(), z + step); ++k) {
      inside += p.slice_inside[k];
      phase += p.slice_phase[k];
    }
    if (inside == 0) continue;
    line.x.push_back(f.grid.centre(0, 0, static_cast<double>(z) + static_cast<double>(step - 1) / 2).z);
    line.y.push_back(100 * static_cast<double>(phase) / static_cast<double>(inside));
  }
  return plot::svg(plot::LineChart{"Share of the phase along z", "z in mm", "%", false, false, {line}});
}

std::string diameters_chart(const std::vector<Blob>& blobs) {
  constexpr std::size_t bins = 32;
  double largest = 0;
  for (const Blob& b : blobs) largest = std::max(largest, b.diameter_mm);
  plot::Line number{"number", {}, {}}, volume{"volume", {}, {}};
  std::vector<double> counts(bins, 0), volumes(bins, 0);
  double all = 0;
  for (const Blob& b : blobs) {
    const auto bin = std::min(bins - 1, static_cast<std::size_t>(b.diameter_mm / largest * bins));
    counts[bin] += 1;
    volumes[bin] += b.volume_mm3;
    all += b.volume_mm3;
  }
  for (std::size_t i = 0; i < bins; ++i) {
    const double x = (static_cast<double>(i) + 0.5) * largest / bins;
    number.x.push_back(x);
    number.y.push_back(100 * counts[i] / static_cast<double>(blobs.size()));
    volume.x.push_back(x);
    volume.y.push_back(100 * volumes[i] / all);
  }
  return plot::svg(plot::LineChart{"Diameters of the blobs", "mm", "% in a bin", false, false, {number, volume}});
}

std::string thickness_chart(const Analysis& a) {
  plot::LineChart chart{"Local thickness", "mm", "% in a bin", false, false, {}};
  const auto add = [&](const char* name, const analysis::ThicknessResult& t) {
    plot::Line line{name, {}, {}};
    double all = 0;
    for (const std::int64_t n : t.voxels) all += static_cast<double>(n);
    const std::size_t step = (t.voxels.size() + 63) / 64;
    for (std::size_t i = 0; i < t.voxels.size(); i += step) {
      double sum = 0;
      for (std::size_t k = i; k < std::min(t.voxels.size(), i + step); ++k) sum += static_cast<double>(t.voxels[k]);
      line.x.push_back((static_cast<double>(i) + 0.5 * static_cast<double>(step)) * t.bin_mm);
      line.y.push_back(all > 0 ? 100 * sum / all : 0);
    }
    chart.lines.push_back(std::move(line));
  };
  add("phase", *a.thickness);
  add("walls", *a.wall);
  return plot::svg(chart);
}

std::string blob_table(const std::vector<Blob>& blobs) {
  std::string text =
      "<table class=\"blobs\"><tr><th>label</th><th>voxels</th><th>volume, mm³</th><th>diameter, mm</th><th>surface, "
      "mm²</th><th>sphericity</th><th>axes, mm</th><th>centre, mm</th><th>mean</th><th>spread</th><th></th></tr>\n";
  for (std::size_t i = 0; i < std::min(blobs.size(), blobs_on_page); ++i) {
    const Blob& b = blobs[i];
    text += format(
        "<tr><td>{}</td><td>{}</td><td>{:.5g}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:.3f}</td><td>{:.3g} × {:.3g} × "
        "{:.3g}</td><td>{:.4g}, {:.4g}, {:.4g}</td><td>{:.4g}</td><td>{:.3g}</td><td>{}</td></tr>\n",
        b.label, b.voxels, b.volume_mm3, b.diameter_mm, b.surface_mm2, b.sphericity, b.axes_mm[0], b.axes_mm[1],
        b.axes_mm[2], b.centroid_mm.x, b.centroid_mm.y, b.centroid_mm.z, b.mean, b.spread,
        b.open ? (*b.open ? "open" : "closed") : "");
  }
  return text + "</table>\n";
}

Json to_json(const analysis::ThicknessResult& t) {
  return {{"mean_mm", t.mean_mm},
          {"spread_mm", t.spread_mm},
          {"largest_mm", t.largest_mm},
          {"bin_mm", t.bin_mm},
          {"voxels", t.voxels}};
}

void add_phase_json(const Analysis& a, const AnalyzeFacts& f, Json& json) {
  json["threshold"] = {{"kind", f.threshold}, {"values", a.phase->thresholds}};
  json["phase"] = f.phase;
  json["phase_voxels"] = a.phase_inside;
  const auto statistics = [](const analysis::ValueStatistics& v) {
    return Json{{"voxels", v.voxels}, {"mean", v.mean}, {"spread", v.spread}};
  };
  const double contrast = analysis::contrast_to_noise(a.phase_values, a.rest_values);
  json["statistics"] = {{"phase", statistics(a.phase_values)},
                        {"rest", statistics(a.rest_values)},
                        {"contrast_to_noise", std::isfinite(contrast) ? Json(contrast) : Json()}};
  if (a.sample)
    json["sample"] = {
        {"air_voxels", a.sample->air}, {"container_voxels", a.sample->container}, {"specks", a.sample->specks}};
  if (a.porosity) {
    const auto& p = *a.porosity;
    json["porosity"] = {
        {"total", p.share(p.phase)},     {"open", p.share(p.open)},
        {"closed", p.share(p.closed())}, {"components", a.components},
        {"cell_voxels", p.cells.edge},   {"slices", {{"inside", p.slice_inside}, {"phase", p.slice_phase}}}};
  }
  if (!a.blobs.empty() || a.left_out > 0)
    json["blobs"] = {{"count", a.blobs.size()},
                     {"open", count_open(a.blobs)},
                     {"median_diameter_mm", median_diameter_mm(a.blobs)},
                     {"left_out", {{"count", a.left_out}, {"voxels", a.left_out_voxels}}}};
  if (a.thickness) json["thickness"] = to_json(*a.thickness);
  if (a.wall) json["walls"] = to_json(*a.wall);
}

}  // namespace

nlohmann::ordered_json analysis_json(const Analysis& a, const AnalyzeFacts& f) {
  const VolumeGrid& g = f.grid;
  Json json{{"volume", f.volume},
            {"size", {g.nx, g.ny, g.nz}},
            {"voxel_mm", {std::abs(g.step_mm.x), std::abs(g.step_mm.y), std::abs(g.step_mm.z)}},
            {"unit", f.unit},
            {"region", f.region},
            {"not_finite", a.survey.not_finite},
            {"values", {{"smallest", a.survey.smallest}, {"largest", a.survey.largest}}},
            {"inside_voxels", a.inside}};
  add_quality_json(a, json);
  if (a.phase) add_phase_json(a, f, json);
  json["files"] = f.files;
  return json;
}
std::string blobs_csv(const std::vector<Blob>& blobs) {
  std::string text =
      "label,voxels,volume_mm3,surface_mm2,diameter_mm,sphericity,open,x_mm,y_mm,z_mm,x0,x1,y0,y1,z0,z1,axis1_mm,axis2_"
      "mm,"
      "axis3_mm,axis1_x,axis1_y,axis1_z,axis2_x,axis2_y,axis2_z,axis3_x,axis3_y,axis3_z,mean,spread\n";
  for (const Blob& b : blobs) {
    text += format("{},{},{:.9g},{:.9g},{:.9g},{:.6g},{},{:.9g},{:.9g},{:.9g}", b.label, b.voxels, b.volume_mm3,
                   b.surface_mm2, b.diameter_mm, b.sphericity, b.open ? (*b.open ? "1" : "0") : "", b.centroid_mm.x,
                   b.centroid_mm.y, b.centroid_mm.z);
    for (std::size_t i = 0; i < 3; ++i) text += format(",{},{}", b.first[i], b.last[i]);
    for (const double axis : b.axes_mm) text += format(",{:.9g}", axis);
    for (const Vec3& d : b.directions) text += format(",{:.6g},{:.6g},{:.6g}", d.x, d.y, d.z);
    text += format(",{:.9g},{:.9g}\n", b.mean, b.spread);
  }
  return text;
}

std::string analysis_text(const Analysis& a, const AnalyzeFacts& f) {
  std::string text;
  for (const auto& [name, value] : summary(a, f)) text += format("{:<10} {}\n", name, value);
  return text;
}

std::string analysis_html(const Analysis& a, const AnalyzeFacts& f) {
  std::string text = format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>lepus analyze: {0}</title>\n<style>\n"
      ":root {{ color-scheme: light dark; --line: #ccc; --dim: #666; }}\n"
      "@media (prefers-color-scheme: dark) {{ :root {{ --line: #444; --dim: #aaa; }} }}\n"
      "body {{ font: 15px/1.45 sans-serif; margin: 1.5em auto; max-width: 76em; padding: 0 1em; }}\n"
      "table {{ border-collapse: collapse; }}\ntd, th {{ padding: 0.25em 0.8em; text-align: right; border-bottom: 1px "
      "solid "
      "var(--line); }}\ntd:first-child, th:first-child {{ text-align: left; }}\n.summary td {{ text-align: left; }}\n"
      ".blobs {{ font-size: 13px; white-space: nowrap; }}\n.pictures, .charts {{ display: flex; flex-wrap: wrap; gap: "
      "1.2em; align-items: "
      "flex-start; }}\n"
      "figure {{ margin: 0; flex: 1 1 18em; max-width: 25em; }}\nimg {{ width: 100%; image-rendering: pixelated; "
      "margin-bottom: 0.5em; }}\n"
      ".charts svg {{ max-width: 100%; height: auto; }}\n.small {{ color: var(--dim); font-size: 13px; }}\n.scroll {{ "
      "overflow-x: "
      "auto; }}\n"
      "</style></head><body>\n<h1>{0}</h1>\n<table class=\"summary\">\n",
      html_text(f.volume));
  for (const auto& [name, value] : summary(a, f))
    text += format("<tr><td>{}</td><td>{}</td></tr>\n", name, html_text(value));
  text += "</table>\n";
  for (const std::string& warning : f.warnings)
    text += format("<p><strong>Warning:</strong> {}</p>\n", html_text(warning));
  text += "<h2>Slices through the middle</h2>\n" + pictures(a, f) + "<h2>Distributions</h2>\n<div class=\"charts\">\n" +
          histogram_chart(a, f) + quality_charts(a, f);
  if (a.porosity) text += slices_chart(a, f);
  if (!a.blobs.empty()) text += diameters_chart(a.blobs);
  if (a.thickness && a.wall) text += thickness_chart(a);
  text += "</div>\n" + quality_pictures(a, f);
  if (!a.blobs.empty())
    text += format(
        "<h2>Blobs</h2>\n<div class=\"scroll\">{}</div>\n<p class=\"small\">{} of {}; all are in blobs.csv. Surface by "
        "Crofton's "
        "formula in 13 directions; axes of the ellipsoid of the same second moments; spread: standard deviation.</p>\n",
        blob_table(a.blobs), std::min(a.blobs.size(), blobs_on_page), a.blobs.size());
  text += "<p class=\"small\">Files:";
  for (const std::string& file : f.files) text += " " + html_text(file);
  return text + "</p>\n</body></html>\n";
}

}  // namespace lepus::app

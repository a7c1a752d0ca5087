// SPDX-License-Identifier: Apache-2.0
#include "app/quality_report.h"

#include <algorithm>
#include <cmath>

#include "analysis/panel.h"
#include "api/html_text.h"
#include "core/format.h"
#include "plot/chart.h"

namespace lepus::app {
namespace {

using analysis::Analysis;
using Json = nlohmann::ordered_json;

std::string with_unit(double value, const AnalyzeFacts& f) {
  return format("{:.5g}{}", value, f.unit.empty() ? "" : " " + f.unit);
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json to_json(const analysis::NoiseResult& n) {
  return {
      {"found", n.found},
      {"box_voxels", {n.box.first[0], n.box.last[0], n.box.first[1], n.box.last[1], n.box.first[2], n.box.last[2]}},
      {"mean", n.mean},
      {"standard_deviation", n.spread},
      {"contrast", n.contrast},
      {"contrast_to_noise", number(n.contrast_to_noise())},
      {"spectrum", {{"blocks", n.blocks}, {"block_voxels", n.edge}, {"per_mm", n.per_mm}, {"power_mm3", n.power_mm3}}}};
}

std::string per_mm_text(const std::optional<double>& f) { return f ? format("{:.4g} /mm", *f) : "not reached"; }

Json to_json(const analysis::ResolutionResult& r) {
  const auto& c = r.cylinder;
  return {{"found", r.found},
          {"cylinder",
           {{"point_mm", {c.point_mm.x, c.point_mm.y, c.point_mm.z}},
            {"direction", {c.direction.x, c.direction.y, c.direction.z}},
            {"radius_mm", c.radius_mm},
            {"uneven_mm", c.uneven_mm},
            {"slices", {c.first_slice, c.last_slice}}}},
          {"inner", r.inner},
          {"outer", r.outer},
          {"mtf_50_per_mm", r.half_per_mm ? Json(*r.half_per_mm) : Json()},
          {"mtf_10_per_mm", r.tenth_per_mm ? Json(*r.tenth_per_mm) : Json()},
          {"edge", {{"distance_mm", r.distance_mm}, {"value", r.edge}}},
          {"mtf", {{"per_mm", r.per_mm}, {"transfer", r.transfer}}}};
}

Json triple(Vec3 v) { return {v.x, v.y, v.z}; }

Json to_json(const analysis::RigidMotion& motion) {
  return {{"rotation_deg", triple(analysis::turn_of(motion.rotation) * degrees(1))},
          {"centre_mm", triple(motion.centre_mm)},
          {"shift_mm", triple(motion.shift_mm)},
          {"matrix", motion.rotation.m}};
}

std::string motion_text(const analysis::RigidMotion& motion) {
  const Vec3 turn = analysis::turn_of(motion.rotation) * degrees(1), shift = motion.shift_mm;
  return format("turned by ({:.4f}, {:.4f}, {:.4f})° and shifted by ({:.4g}, {:.4g}, {:.4g}) mm", turn.x, turn.y,
                turn.z, shift.x, shift.y, shift.z);
}

void add_differences(const Comparison& c, Json& json) {
  for (const auto& [name, value] : {std::pair{"rmse", c.rmse}, std::pair{"mae", c.mae}, std::pair{"bias", c.bias},
                                    std::pair{"max", c.maximum_error}, std::pair{"psnr_db", c.psnr_db}})
    json[name] = number(value);
}

Json to_json(const analysis::AgainstResult& r) {
  Json json;
  if (r.registration) {
    const auto& g = *r.registration;
    json["registration"] = to_json(g.motion);
    json["registration"].update({{"gain", g.gain},
                                 {"offset", g.offset},
                                 {"correlation", g.correlation},
                                 {"overlap", g.overlap},
                                 {"iterations", g.iterations}});
  }
  add_differences(r.comparison, json);
  json["voxels"] = r.comparison.voxels;
  if (r.scaled) add_differences(*r.scaled, json["scaled"]);
  return json;
}

Json to_json(const std::optional<analysis::Alignment>& alignment) {
  if (!alignment) return {};
  Json json = to_json(alignment->motion);
  json.update(
      {{"typical_mm", alignment->typical_mm}, {"points", alignment->points}, {"iterations", alignment->iterations}});
  return json;
}

Json to_json(const analysis::NominalResult& n) {
  return {{"threshold", n.threshold},
          {"alignment", to_json(n.alignment)},
          {"points", n.points},
          {"area_mm2", n.area_mm2},
          {"mean_mm", n.mean_mm},
          {"spread_mm", n.spread_mm},
          {"smallest_mm", n.smallest_mm},
          {"largest_mm", n.largest_mm},
          {"percentile_5_mm", n.percentile_5_mm},
          {"median_mm", n.median_mm},
          {"percentile_95_mm", n.percentile_95_mm},
          {"within_tolerance", n.within ? Json(*n.within) : Json()},
          {"histogram", {{"mm", n.bin_mm}, {"share", n.bin_share}}}};
}

// Distances from three sides, blue where material is missing and red where there is too much.
std::string nominal_pictures(const analysis::NominalResult& n, const AnalyzeFacts& f) {
  const GreyWindow window = symmetric_window(n.views, 99);
  std::string text = format("<h2>Distance from {}</h2>\n<div class=\"pictures\">\n", html_text(f.nominal));
  for (const Slice& view : n.views)
    text += format(
        "<figure><figcaption>seen from {} ({} right, {} up)</figcaption><img src=\"data:image/png;base64,{}\" "
        "alt=\"\"></figure>\n",
        view.request.axis == Axis::x   ? "+x"
        : view.request.axis == Axis::y ? "-y"
                                       : "+z",
        view.right(), view.up(),
        base64(png_bytes(draw_slice(view, window, ColourMap::diverging, view.pixel_width_mm), "report")));
  return text +
         format(
             "</div>\n<p class=\"small\">Blue: {:.4g} mm inside the nominal surface; white: on it; red: {:.4g} mm "
             "outside. Black: nothing.</p>\n",
             -window.low, window.high);
}

}  // namespace

void add_quality_rows(const Analysis& a, const AnalyzeFacts& f, SummaryRows& rows) {
  if (a.noise) {
    const auto& n = *a.noise;
    rows.emplace_back(
        "noise",
        format("{} about {}, in voxels [{}, {}) x [{}, {}) x [{}, {}){}; contrast to noise {:.4g}",
               with_unit(n.spread, f), with_unit(n.mean, f), n.box.first[0], n.box.last[0], n.box.first[1],
               n.box.last[1], n.box.first[2], n.box.last[2], n.found ? ", the flattest" : "", n.contrast_to_noise()));
  }
  if (a.resolution) {
    const auto& r = *a.resolution;
    const auto& c = r.cylinder;
    rows.emplace_back("resolution", format("MTF 50 % at {}, 10 % at {} (line pairs)", per_mm_text(r.half_per_mm),
                                           per_mm_text(r.tenth_per_mm)));
    rows.emplace_back(
        "cylinder", format("radius {:.5g} mm about ({:.4g}, {:.4g}) mm, {:.3g}° off z, slices [{}, {}){}", c.radius_mm,
                           c.point_mm.x, c.point_mm.y, degrees(std::acos(std::min(1.0, c.direction.z))), c.first_slice,
                           c.last_slice, r.found ? ", found" : ""));
  }
  if (a.against) {
    if (const auto& g = a.against->registration) {
      rows.emplace_back("registered", format("{} {}; overlap {:.1f} %, correlation {:.4f}", f.against,
                                             motion_text(g->motion), 100 * g->overlap, g->correlation));
    }
    const Comparison& c = a.against->comparison;
    rows.emplace_back("difference", format("{} - {}: rms {:.5g}, mean {:.4g}, largest {:.5g}, in {} voxels", f.against,
                                           f.volume, c.rmse, c.bias, c.maximum_error, c.voxels));
    if (const auto& s = a.against->scaled) {
      const auto& g = *a.against->registration;
      rows.emplace_back(
          "scaled", format("{:.5g} {} {} {:.4g} - {}: rms {:.5g}, mean {:.4g}, largest {:.5g}", g.gain, f.against,
                           g.offset < 0 ? "-" : "+", std::abs(g.offset), f.volume, s->rmse, s->bias, s->maximum_error));
    }
  }
  if (a.nominal) {
    const auto& n = *a.nominal;
    if (n.alignment)
      rows.emplace_back("aligned", format("{} {}; half of the surface lies within {:.4g} mm of {}", f.volume,
                                          motion_text(n.alignment->motion), n.alignment->typical_mm, f.nominal));
    rows.emplace_back(
        "nominal",
        format("{}: mean {:.4g} mm, spread {:.4g} mm, 90 % between {:.4g} and {:.4g} mm, extremes {:.4g} and "
               "{:.4g} mm; {} points at {:.5g}{}",
               f.nominal, n.mean_mm, n.spread_mm, n.percentile_5_mm, n.percentile_95_mm, n.smallest_mm, n.largest_mm,
               n.points, n.threshold, n.within ? format("; {:.2f} % within the tolerance", 100 * *n.within) : ""));
  }
}

void add_quality_json(const Analysis& a, Json& json) {
  if (a.noise) json["noise"] = to_json(*a.noise);
  if (a.resolution) json["resolution"] = to_json(*a.resolution);
  if (a.against) json["against"] = to_json(*a.against);
  if (a.nominal) json["nominal"] = to_json(*a.nominal);
}

std::string quality_charts(const Analysis& a, const AnalyzeFacts& f) {
  std::string text;
  if (a.noise) {
    const std::string unit = f.unit.empty() ? "value" : "(" + f.unit + ")";
    text += plot::svg(plot::LineChart{"Noise power over all directions",
                                      "1/mm",
                                      unit + "² mm³",
                                      false,
                                      false,
                                      {{"noise", a.noise->per_mm, a.noise->power_mm3}}});
  }
  if (a.resolution) {
    const auto& r = *a.resolution;
    text += plot::svg(plot::LineChart{"Edge of the cylinder",
                                      "mm from its axis",
                                      f.unit.empty() ? "value" : f.unit,
                                      false,
                                      false,
                                      {{"edge", r.distance_mm, r.edge}}});
    plot::LineChart mtf{"Modulation transfer", "line pairs per mm", "", false, false, {{"MTF", r.per_mm, r.transfer}}};
    if (r.half_per_mm) mtf.lines.push_back({"50 %", {*r.half_per_mm, *r.half_per_mm}, {0, 0.5}});
    if (r.tenth_per_mm) mtf.lines.push_back({"10 %", {*r.tenth_per_mm, *r.tenth_per_mm}, {0, 0.1}});
    text += plot::svg(mtf);
  }
  if (a.nominal) {
    plot::Line line{"surface", a.nominal->bin_mm, {}};
    for (const double share : a.nominal->bin_share) line.y.push_back(100 * share);
    text += plot::svg(plot::LineChart{"Distance from the nominal surface", "mm", "% in a bin", false, false, {line}});
  }
  return text;
}

std::string quality_pictures(const Analysis& a, const AnalyzeFacts& f) {
  std::string nominal = a.nominal ? nominal_pictures(*a.nominal, f) : "";
  if (!a.against) return nominal;
  PanelOptions options;
  options.cell_pixels = 320;
  const Picture panel = comparison_panel(f.volume, a.against->first, f.against, a.against->other, options);
  return nominal + format("<h2>Against {}</h2>\n<img src=\"data:image/png;base64,{}\" alt=\"\">\n",
                          html_text(f.against), base64(png_bytes(panel, "report")));
}

}  // namespace lepus::app

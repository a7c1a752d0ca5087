// SPDX-License-Identifier: Apache-2.0
#include "api/analyze_report.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"
#include "api/quality_report.h"
#include "core/format.h"

namespace lepus::analysis {
namespace {

using Json = nlohmann::ordered_json;

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

Json to_json(const ThicknessResult& t) {
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
  const auto statistics = [](const ValueStatistics& v) {
    return Json{{"voxels", v.voxels}, {"mean", v.mean}, {"spread", v.spread}};
  };
  const double contrast = contrast_to_noise(a.phase_values, a.rest_values);
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

SummaryRows analysis_summary(const Analysis& a, const AnalyzeFacts& f) {
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
                           contrast_to_noise(a.phase_values, a.rest_values)));
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
  const auto thickness = [&](const char* name, const std::optional<ThicknessResult>& t) {
    if (t)
      rows.emplace_back(
          name, format("mean {:.5g} mm, spread {:.4g} mm, largest {:.5g} mm", t->mean_mm, t->spread_mm, t->largest_mm));
  };
  thickness("thickness", a.thickness);
  thickness("walls", a.wall);
  return rows;
}

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

}  // namespace lepus::analysis

// SPDX-License-Identifier: Apache-2.0
#include "app/quality_report.h"

#include <cmath>

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
}

void add_quality_json(const Analysis& a, Json& json) {
  if (a.noise) json["noise"] = to_json(*a.noise);
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
  return text;
}

}  // namespace lepus::app

// SPDX-License-Identifier: Apache-2.0
#include "filter/redundancy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "filter/smooth_step.h"
#include <lepus/math.h>

namespace lepus {
namespace {

// Keeps 0/0 away: a ray with no confidence of its own whose partner was not measured either counts fully.
constexpr double nothing = 1e-30;

}  // namespace

double DetectorReach::confidence(double rho_mm) const {
  return feathered() ? smooth_step((longer_side * rho_mm + shorter_mm) / fade_mm) : 1.0;
}

DetectorReach detector_reach(double positive_mm, double negative_mm) {
  DetectorReach reach;
  reach.longer_side = positive_mm >= negative_mm ? 1 : -1;
  reach.longer_mm = std::max(positive_mm, negative_mm);
  reach.shorter_mm = std::min(positive_mm, negative_mm);
  // A detector that is off by a little fades over four times that; from a third on over all that both sides see.
  const double off = reach.longer_mm - reach.shorter_mm;
  if (reach.shorter_mm > 0 && off > 1e-6 * reach.longer_mm) reach.fade_mm = std::min(2 * reach.shorter_mm, 4 * off);
  return reach;
}

Redundancy::Redundancy(std::vector<double> angles_rad, ViewArcs arcs, DetectorReach reach, double constant)
    : angles_(std::move(angles_rad)), arcs_(std::move(arcs)), reach_(reach), constant_(constant) {}

double Redundancy::at(std::int64_t view, double gamma_rad, double rho_mm) const {
  if (constant_ > 0) return constant_;
  const double own = reach_.confidence(rho_mm), other = reach_.confidence(-rho_mm);
  if (arcs_.closed()) return own / (own + other);
  const auto i = static_cast<std::size_t>(view);
  const double opposite = angles_[i] + pi + 2 * gamma_rad;
  double partner_margin = 0;
  for (const Arc& arc : arcs_.arcs) {
    const double from_begin = opposite - arc.begin - arcs_.period * std::floor((opposite - arc.begin) / arcs_.period);
    partner_margin =
        std::max(partner_margin, arc.length() - from_begin > 0 ? std::min(from_begin, arc.length() - from_begin) : 0.0);
  }
  const double fade = std::min(arcs_.margin[i] + partner_margin, widest_fade_rad);
  const double c = smooth_step(arcs_.margin[i] / fade) * own + nothing;
  return c / (c + smooth_step(partner_margin / fade) * other);
}

Redundancy::Row Redundancy::row(std::int64_t view, double lowest_gamma, double highest_gamma) const {
  Row row;
  if (constant_ > 0) {
    row.constant = static_cast<float>(constant_);
    return row;
  }
  if (arcs_.closed()) {
    row.varies = row.needs_rho = reach_.feathered();
    row.constant = 0.5F;
    return row;
  }
  const auto i = static_cast<std::size_t>(view);
  row.margin = static_cast<float>(arcs_.margin[i]);
  const double opposite = angles_[i] + pi;
  for (const Arc& arc : arcs_.arcs) {
    const double turns = std::floor((opposite + 2 * lowest_gamma - arc.end) / arcs_.period);
    for (double begin = arc.begin + turns * arcs_.period; begin < opposite + 2 * highest_gamma; begin += arcs_.period)
      if (begin + arc.length() > opposite + 2 * lowest_gamma)
        row.partners.push_back({begin - opposite, begin + arc.length() - opposite});
  }
  row.varies = row.needs_gamma = !row.partners.empty();
  row.needs_rho = row.varies && reach_.feathered();
  return row;
}

void Redundancy::fill(const Row& row, std::int64_t n, const float* gamma, const float* rho, float* weight) const {
  const auto fade_scale = static_cast<float>(reach_.longer_side / reach_.fade_mm);
  const auto fade_start = static_cast<float>(reach_.shorter_mm / reach_.fade_mm);
  if (!row.needs_gamma) {  // a full turn, a detector off the middle
    for (std::int64_t k = 0; k < n; ++k) {
      const float own = smooth_step(fade_start + rho[k] * fade_scale);
      weight[k] = own / (own + smooth_step(fade_start - rho[k] * fade_scale));
    }
    return;
  }
  for (std::int64_t k = 0; k < n; ++k) weight[k] = 0;  // of the partner: its margin first
  for (const Arc& arc : row.partners) {
    const auto begin = static_cast<float>(arc.begin), end = static_cast<float>(arc.end);
    for (std::int64_t k = 0; k < n; ++k) {
      const float a = 2 * gamma[k] - begin, b = end - 2 * gamma[k];
      const float inside = a < b ? a : b;
      weight[k] = weight[k] > inside ? weight[k] : inside;
    }
  }
  const auto widest = static_cast<float>(widest_fade_rad);
  const auto tiny = static_cast<float>(nothing);
  if (!row.needs_rho) {
    for (std::int64_t k = 0; k < n; ++k) {
      const float sum = row.margin + weight[k];
      const float fade = 1.0F / (sum < widest ? sum : widest);
      const float c = smooth_step(row.margin * fade) + tiny;
      weight[k] = c / (c + smooth_step(weight[k] * fade));
    }
    return;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const float sum = row.margin + weight[k];
    const float fade = 1.0F / (sum < widest ? sum : widest);
    const float c = smooth_step(row.margin * fade) * smooth_step(fade_start + rho[k] * fade_scale) + tiny;
    weight[k] = c / (c + smooth_step(weight[k] * fade) * smooth_step(fade_start - rho[k] * fade_scale));
  }
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "filter/redundancy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "filter/smooth_step.h"
#include <lepus/math.h>

namespace lepus {

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
  const double c = smooth_step(arcs_.margin[i] / fade) * own + no_confidence;
  return c / (c + smooth_step(partner_margin / fade) * other);
}

void Redundancy::describe(std::int64_t view, double lowest_gamma, double highest_gamma, ViewWeight& weight,
                          std::vector<PartnerArc>& partners) const {
  weight.first_partner = static_cast<std::int32_t>(partners.size());
  if (constant_ > 0) {
    weight.redundancy = static_cast<float>(constant_);
    return;
  }
  if (arcs_.closed()) {
    weight.varies = weight.needs_rho = reach_.feathered();
    weight.redundancy = 0.5F;
    return;
  }
  const auto i = static_cast<std::size_t>(view);
  weight.margin = static_cast<float>(arcs_.margin[i]);
  const double opposite = angles_[i] + pi;  // 2 gamma counts from here
  for (const Arc& arc : arcs_.arcs) {
    const double turns = std::floor((opposite + 2 * lowest_gamma - arc.end) / arcs_.period);
    for (double begin = arc.begin + turns * arcs_.period; begin < opposite + 2 * highest_gamma; begin += arcs_.period)
      if (begin + arc.length() > opposite + 2 * lowest_gamma)
        partners.push_back({static_cast<float>(begin - opposite), static_cast<float>(begin + arc.length() - opposite)});
  }
  weight.partners = static_cast<std::int32_t>(partners.size()) - weight.first_partner;
  weight.varies = weight.needs_gamma = weight.partners > 0;
  weight.needs_rho = weight.varies && reach_.feathered();
}

void Redundancy::describe(WeightShape& shape) const {
  if (!reach_.feathered()) return;
  shape.fade_scale = static_cast<float>(reach_.longer_side / reach_.fade_mm);
  shape.fade_start = static_cast<float>(reach_.shorter_mm / reach_.fade_mm);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "filter/consistency.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"

namespace lepus {
namespace {

// Verdicts need this many lines in this many views, a difference this significant, and a score this much better: below,
// what is seen twice is a few corners, or one geometry explains the data hardly better than the other.
constexpr std::int64_t enough_lines = 200;
constexpr std::size_t enough_views = 8;
constexpr double enough_errors = 5, enough_better = 1.3;
bool enough(const RayAgreement& a) { return a.lines >= enough_lines && a.per_view.size() >= enough_views; }

}  // namespace

std::int64_t consistency_row(const ScanGeometry& g) {
  double sum = 0;
  if (g.beam != Beam::cone) return g.rows / 2;
  for (std::int64_t i = 0; i < g.views(); ++i) {
    const ViewRays view(camera_of(g, i));
    const double u = 0.5 * static_cast<double>(g.columns - 1);
    sum += view.height[2] == 0 ? 0.0 : -linear(view.height, u, 0) / view.height[2];
  }
  const double row = std::clamp(sum / static_cast<double>(g.views()), 0.0, static_cast<double>(g.rows - 1));
  return std::llround(row);
}

Consistency check_turning(const OppositeRays& rays) {
  const RayAgreement given = rays.compare({}), backwards = rays.compare({.backwards = true}),
                     mirrored = rays.compare({.mirrored = true});
  const bool flipped = mirrored.value < backwards.value;
  const RayAgreement& other = flipped ? mirrored : backwards;

  Consistency c;
  c.as_given = given.value;
  c.other_way = other.value;
  c.lines = given.lines;
  if (!enough(given) || !enough(other)) {
    c.message =
        format("the direction of rotation was not checked: only {} lines are seen from both sides", given.lines);
    return c;
  }
  const double error = std::hypot(error_of(given), error_of(other));
  c.significance = error > 0 ? (other.value - given.value) / error : 0;
  const double ratio = std::max(other.value, given.value) / std::max(1e-12, std::min(other.value, given.value));
  if (std::abs(c.significance) < enough_errors || ratio < enough_better) {
    c.message = format(
        "the direction of rotation could not be checked: opposite rays agree as well either way "
        "(differences {:.3g} and {:.3g} of their variance)",
        given.value, other.value);
    return c;
  }
  if (c.significance > 0) {
    c.verdict = Turning::as_given;
    c.message = format("opposite rays agree (differences {:.3g} of their variance, {:.3g} the other way round)",
                       given.value, other.value);
    return c;
  }
  c.verdict = flipped ? Turning::mirrored : Turning::backwards;
  c.message = format(
      "the scan seems to be mirrored or to turn backwards: opposite rays differ by {:.3g} of their "
      "variance, {} by {:.3g}; try the angles with the other sign, or mirrored columns",
      given.value, flipped ? "with mirrored columns" : "turned the other way", other.value);
  return c;
}

}  // namespace lepus

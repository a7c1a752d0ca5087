// SPDX-License-Identifier: Apache-2.0
// "hardening": line integrals straightened by a polynomial that is given, calibrated or fitted to the scan itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/format.h"
#include "correct/beam/beam.h"
#include "correct/beam/hardening_curve.h"
#include "correct/beam/hardening_fit.h"
#include "geometry/helix.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class Hardening final : public Correction {
public:
  Hardening(const HardeningCurve& curve, std::string summary) : curve_(curve), summary_(std::move(summary)) {}

  bool needs_all_views() const override { return false; }

  BandOperation operation() const override { return BandOperation::hardening; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    queue.device().band_kernels().linearise(band.sinograms(wanted), curve_, queue);
  }

  std::string summary() const override { return summary_; }

private:
  HardeningCurve curve_;
  std::string summary_;
};

// What the three ways of getting a curve agree on.
struct Straightening {
  std::vector<double> coefficients;
  double largest = std::numeric_limits<double>::max();
  std::string origin;
};

std::string polynomial_words(const std::vector<double>& c) {
  std::string words = "p' =";
  for (std::size_t k = 0; k < c.size(); ++k)
    words += format("{}{:.4g} p{}",
                    k == 0     ? " "
                    : c[k] < 0 ? " - "
                               : " + ",
                    k == 0 ? c[k] : std::abs(c[k]), k == 0 ? std::string() : format("^{}", k + 1));
  return words;
}

Straightening from_calibration(const HardeningOptions& options) {
  std::vector<double> thickness, integrals;
  for (const auto& [thickness_mm, line_integral] : *options.calibration) {
    thickness.push_back(thickness_mm);
    integrals.push_back(line_integral);
  }
  Straightening result;
  result.largest = integrals.empty() ? 0 : *std::max_element(integrals.begin(), integrals.end());
  if (!(result.largest > 0))
    refuse("hardening", "the calibration holds no positive line integral", format("it has {} pairs", integrals.size()),
           "each line holds a thickness in mm and the line integral measured behind it");
  result.coefficients = calibrated_coefficients(thickness, integrals, options.degree, options.attenuation_per_mm);
  result.origin = format("from {} pairs of a calibration", thickness.size());
  return result;
}

Straightening from_scan(const ScanFacts& facts, int degree) {
  if (!facts.geometry || !facts.band)
    refuse("hardening", "the curve cannot be fitted here", "neither rows nor geometry of the scan are known",
           "give coefficients or a calibration");
  const ScanGeometry& geometry = *facts.geometry;
  if (geometry.recorded_on_arc || geometry.columns != facts.columns || geometry.rows != facts.rows)
    refuse("hardening", "the curve cannot be fitted to this scan", "the detector is bent and the fit wants a flat one",
           "give coefficients or a calibration");
  if (is_helix_to_fdk(geometry))
    refuse("hardening", "the curve cannot be fitted to this scan",
           "the source climbs, and no row sees one slice from all sides", "give coefficients or a calibration");
  const std::int64_t row = mid_plane_row(geometry);
  const Buffer<float> sinogram = facts.band({row, row + 1});
  std::optional<ThreadPool> own;
  ThreadPool& threads = facts.threads ? *facts.threads : own.emplace(1);
  const HardeningFit fit = fit_hardening(sinogram.data(), row, geometry, degree, threads);
  if (fit.coefficients.empty())
    refuse("hardening", "the curve cannot be fitted to this scan",
           format("{} voxels of a 128 x 128 slice lie well inside the object", fit.inside),
           "the object must be seen whole and be a fair part of the field of view; else give coefficients or a "
           "calibration");
  if (fit.reaches_the_rim)
    warn(facts,
         "the object reaches the edge of the field of view: a curve fitted to a part of it may be wrong; give "
         "coefficients or a calibration");
  if (fit.unevenness_after > 0.05)
    warn(
        facts,
        format("inside the object the slice still varies by {:.1f} %: is it of one material? Else give coefficients or "
               "a calibration",
               100 * fit.unevenness_after));
  return {fit.coefficients, fit.largest,
          format("fitted to row {}, whose cupping goes from {:.1f} % to {:.2f} %", row, 100 * fit.cupping_before,
                 100 * fit.cupping_after)};
}

// A curve that is given may end, or stop rising, where the object goes on: said before the volume is wrong.
void warn_beyond_curve(const ScanFacts& facts, double last) {
  if (!facts.band || !facts.warning) return;
  const Buffer<float> row = facts.band({facts.rows / 2, facts.rows / 2 + 1});
  const auto beyond =
      std::count_if(row.data(), row.data() + row.size(), [&](float p) { return static_cast<double>(p) > last; });
  const double share = static_cast<double>(beyond) / static_cast<double>(row.size());
  if (share < 0.001) return;
  warn(facts,
       format(
           "{:.1f} % of the line integrals of the middle row are above {:.3g}, where "
           "the curve ends or rises no more: it goes on as a straight line there; check the coefficients, or calibrate "
           "with thicker pieces",
           100 * share, last));
}

}  // namespace

std::unique_ptr<Correction> make_hardening(const HardeningOptions& options, const ScanFacts& facts) {
  require_stage("hardening", facts, Stage::line_integrals);
  const bool given = !options.coefficients.empty(), calibrated = options.calibration.has_value();
  if (static_cast<int>(given) + static_cast<int>(calibrated) + static_cast<int>(options.homogeneous) != 1)
    refuse("hardening", "one source of the curve is wanted",
           "coefficients, calibration and homogeneous exclude each other",
           "give coefficients = [c1, c2, ...], or calibration = \"file\", or homogeneous = true where the object is of "
           "one material");
  if (options.degree < 2 || options.degree > HardeningCurve::terms)
    refuse("hardening", format("degree = {}", options.degree),
           format("it must lie between 2 and {}", HardeningCurve::terms), "");
  if (options.attenuation_per_mm && !calibrated)
    refuse("hardening", "attenuation_per_mm is given", "it belongs to a calibration, and there is none",
           "leave it out");
  if (given && options.degree != HardeningOptions{}.degree && options.degree != std::ssize(options.coefficients))
    refuse("hardening", format("degree = {}", options.degree), "the coefficients that are given say the degree",
           "leave it out");
  const Straightening result = calibrated ? from_calibration(options)
                               : options.homogeneous
                                   ? from_scan(facts, options.degree)
                                   : Straightening{options.coefficients, std::numeric_limits<double>::max(), "given"};
  HardeningCurve curve;
  try {
    curve = hardening_curve(result.coefficients, result.largest);
  } catch (const Error& error) {
    refuse("hardening", error.parts().what, error.parts().why, "check the coefficients");
  }
  if (!options.homogeneous) warn_beyond_curve(facts, static_cast<double>(curve.limit));
  return std::make_unique<Hardening>(curve, format("{} up to {:.3g}, {}", polynomial_words(result.coefficients),
                                                   static_cast<double>(curve.limit), result.origin));
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// "hardening": line integrals straightened by a polynomial that is given, calibrated or fitted to the scan itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/format.h"
#include "correct/beam/beam.h"
#include "correct/beam/hardening_curve.h"
#include "correct/beam/hardening_fit.h"
#include "correct/beam/view_loops.h"
#include "scan/number_file.h"
#include <lepus/error.h>
#if LEPUS_HAVE_CUDA
#include "correct/beam/beam_launch.h"
#include "correct/workspace.h"
#endif

namespace lepus {
namespace {

class Hardening final : public Correction {
public:
  Hardening(const HardeningCurve& curve, std::string summary) : curve_(curve), summary_(std::move(summary)) {}

  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) override {
    linearise(band.sinograms(wanted), curve_, threads);
  }

  void apply_on_device([[maybe_unused]] const SinogramBand& band, [[maybe_unused]] RowBand wanted,
                       [[maybe_unused]] cuda::Workspace& workspace) override {
#if LEPUS_HAVE_CUDA
    cuda::launch_linearise(band.sinograms(wanted), curve_, workspace.stream());
#else
    no_device_here("hardening");
#endif
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

Straightening from_calibration(const CorrectionSpec& spec, int degree) {
  const std::string file = file_of(spec, "calibration").string();
  const NumberFile numbers = read_number_file(file);
  if (numbers.values.empty() || numbers.values.size() % 2 != 0)
    refuse(spec, "the calibration is not a list of pairs", format("{} holds {} numbers", file, numbers.values.size()),
           "each line holds a thickness in mm and the line integral measured behind it");
  std::vector<double> thickness, integrals;
  for (std::size_t i = 0; i < numbers.values.size(); i += 2) {
    thickness.push_back(numbers.values[i]);
    integrals.push_back(numbers.values[i + 1]);
  }
  Straightening result;
  result.largest = *std::max_element(integrals.begin(), integrals.end());
  if (!(result.largest > 0))
    refuse(spec, "the calibration holds no positive line integral", file,
           "each line holds a thickness in mm and the line integral measured behind it");
  result.coefficients = calibrated_coefficients(
      thickness, integrals, degree,
      spec.parameters.contains("attenuation_per_mm") ? number_of(spec, "attenuation_per_mm") : 0);
  result.origin = format("from {} pairs of a calibration", thickness.size());
  return result;
}

Straightening from_scan(const CorrectionSpec& spec, const ScanFacts& facts, int degree) {
  const ScanGeometry& geometry = *facts.geometry;
  if (geometry.recorded_on_arc || geometry.columns != facts.columns || geometry.rows != facts.rows)
    refuse(spec, "the curve cannot be fitted to this scan", "the detector is bent and the fit wants a flat one",
           "give coefficients or a calibration");
  const std::int64_t row = mid_plane_row(geometry);
  const Buffer<float> sinogram = facts.band({row, row + 1});
  const HardeningFit fit = fit_hardening(sinogram.data(), row, geometry, degree, facts.context->threads);
  if (fit.coefficients.empty())
    refuse(spec, "the curve cannot be fitted to this scan",
           format("{} voxels of a 128 x 128 slice lie well inside the object", fit.inside),
           "the object must be seen whole and be a fair part of the field of view; else give coefficients or a "
           "calibration");
  const auto say = [&](const std::string& message) { warn(facts, spec, message); };
  if (fit.reaches_the_rim)
    say("the object reaches the edge of the field of view: a curve fitted to a part of it may be wrong; give "
        "coefficients or a calibration");
  if (fit.unevenness_after > 0.05)
    say(
        format("inside the object the slice still varies by {:.1f} %: is it of one material? Else give coefficients or "
               "a calibration",
               100 * fit.unevenness_after));
  return {fit.coefficients, fit.largest,
          format("fitted to row {}, whose cupping goes from {:.1f} % to {:.2f} %", row, 100 * fit.cupping_before,
                 100 * fit.cupping_after)};
}

// A curve that is given may end, or stop rising, where the object goes on: said before the volume is wrong.
void warn_beyond_curve(const CorrectionSpec& spec, const ScanFacts& facts, double last) {
  if (!facts.band || !facts.context) return;
  const Buffer<float> row = facts.band({facts.rows / 2, facts.rows / 2 + 1});
  const auto beyond =
      std::count_if(row.data(), row.data() + row.size(), [&](float p) { return static_cast<double>(p) > last; });
  const double share = static_cast<double>(beyond) / static_cast<double>(row.size());
  if (share < 0.001) return;
  warn(facts, spec,
       format(
           "{:.1f} % of the line integrals of the middle row are above {:.3g}, where "
           "the curve ends or rises no more: it goes on as a straight line there; check the coefficients, or calibrate "
           "with thicker pieces",
           100 * share, last));
}

}  // namespace

std::unique_ptr<Correction> make_hardening(const CorrectionSpec& spec, const ScanFacts& facts) {
  require_stage(spec, facts, Stage::line_integrals);
  const std::vector<double> given = numbers_of(spec, "coefficients");
  const bool calibrated = spec.parameters.contains("calibration"), homogeneous = flag_of(spec, "homogeneous");
  if (static_cast<int>(!given.empty()) + static_cast<int>(calibrated) + static_cast<int>(homogeneous) != 1)
    refuse(spec, "one source of the curve is wanted", "coefficients, calibration and homogeneous exclude each other",
           "give coefficients = [c1, c2, ...], or calibration = \"file\", or homogeneous = true where the object is of "
           "one material");
  const auto degree = static_cast<int>(integer_of(spec, "degree"));
  if (degree < 2 || degree > HardeningCurve::terms)
    refuse(spec, format("degree = {}", degree), format("it must lie between 2 and {}", HardeningCurve::terms), "");
  Straightening result;
  if (calibrated)
    result = from_calibration(spec, degree);
  else if (homogeneous)
    result = from_scan(spec, facts, degree);
  else
    result = {given, std::numeric_limits<double>::max(), "given"};
  HardeningCurve curve;
  try {
    curve = hardening_curve(result.coefficients, result.largest);
  } catch (const Error& error) {
    refuse(spec, error.parts().what, error.parts().why, "check the coefficients");
  }
  if (!homogeneous) warn_beyond_curve(spec, facts, static_cast<double>(curve.limit));
  return std::make_unique<Hardening>(curve, format("{} up to {:.3g}, {}", polynomial_words(result.coefficients),
                                                   static_cast<double>(curve.limit), result.origin));
}

}  // namespace lepus

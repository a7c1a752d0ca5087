// SPDX-License-Identifier: Apache-2.0
#include "run/make_correction.h"

#include <map>
#include <string_view>

#include "preprocess/dead_pixels.h"
#include "scan/correction_options.h"
#include "scan/parameters.h"

namespace lepus {
namespace {

using Maker = std::unique_ptr<Correction>(const CorrectionSpec& spec, const ScanFacts& facts,
                                          const CorrectionSources& sources);

// A maker whose options say all.
template <auto make, auto options_of>
std::unique_ptr<Correction> from_options(const CorrectionSpec& spec, const ScanFacts& facts, const CorrectionSources&) {
  return make(options_of(spec), facts);
}

std::unique_ptr<Correction> dead_pixels_of_flats(const CorrectionSpec& spec, const ScanFacts& facts,
                                                 const CorrectionSources& sources) {
  if (!sources.normalisation)
    refuse(spec, "there is nothing to find dead pixels in", "the frames hold line integrals, so there are no flats",
           "name the pixels with kind = \"defect-map\"");
  if (sources.normalisation->log_i0.size() == 0)
    refuse(spec, "there is nothing to find dead pixels in",
           "I0 is one number for all pixels (intensity.from), so that no flats are looked at",
           "take I0 from flats, or name the pixels with kind = \"defect-map\"");
  const DeadPixelOptions options = dead_pixel_options(spec);
  return make_dead_pixels(options, facts, dead_pixels(*sources.normalisation, options.threshold));
}

std::unique_ptr<Correction> defects_of_selection(const CorrectionSpec& spec, const ScanFacts& facts,
                                                 const CorrectionSources& sources) {
  return make_defect_map(defect_map_options(spec, *sources.scan), facts);
}

}  // namespace

std::unique_ptr<Correction> make_correction(const CorrectionSpec& spec, const ScanFacts& facts,
                                            const CorrectionSources& sources) {
  static const std::map<std::string_view, Maker*> makers{
      {"dead-pixels", dead_pixels_of_flats},
      {"defect-map", defects_of_selection},
      {"hot-pixels", from_options<make_hot_pixels, hot_pixel_options>},
      {"zingers", from_options<make_zingers, zinger_options>},
      {"filter", from_options<make_filter, filter_correction_options>},
      {"rings", from_options<make_rings, rings_options>},
      {"drift", from_options<make_drift, drift_options>},
      {"dose", from_options<make_dose, dose_options>},
      {"lag", from_options<make_lag, lag_options>},
      {"phase", from_options<make_phase, phase_options>},
      {"hardening", from_options<make_hardening, hardening_options>}};
  const auto found = makers.find(spec.kind);
  if (found == makers.end()) refuse(spec, "this build does not know it", "", "docs/scan-file.md lists all kinds");
  ScanFacts named = facts;  // warnings name the correction and its line
  if (facts.warning) named.warning = [&](const std::string& message) { facts.warning(warning_of(spec, message)); };
  return located(spec, [&] { return found->second(spec, named, sources); });
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "io/number_file.h"
#include "scan/correction_options.h"
#include "scan/number_column.h"
#include "scan/parameters.h"

namespace lepus {

DriftOptions drift_options(const CorrectionSpec& spec) {
  DriftOptions options;
  options.lowest_level = number_of(spec, "lowest_level");
  const std::vector<double> region = numbers_of(spec, "region_px");
  if (region.empty()) return options;
  if (region.size() != 4 || std::ranges::any_of(region, [](double v) { return std::floor(v) != v; }))
    refuse(spec, "region_px is not a part of the detector", "it has four whole numbers",
           "give [first column, end column, first row, end row] in whole pixels, of a part that shows only air");
  const auto at = [&](std::size_t i) { return static_cast<std::int64_t>(region[i]); };
  options.region = {at(0), at(1), at(2), at(3)};
  return options;
}

DoseOptions dose_options(const CorrectionSpec& spec) {
  DoseOptions options;
  options.values = numbers_of(spec, "values");
  const bool has_file = spec.parameters.contains("file"), has_column = spec.parameters.contains("column");
  if (options.values.empty() != has_file)
    refuse(spec, "the doses are not given", has_file ? "there are both values and a file" : "no values and no file",
           "give values = [one number per view], or file = \"...\" with one number per view");
  if (has_column && !has_file)
    refuse(spec, "a column of no file", "column = is for a table in a file",
           "give file = \"...\", or leave column out");
  if (has_file)
    options.values = has_column ? read_number_column(file_of(spec, "file"), text_of(spec, "column"))
                                : read_number_file(file_of(spec, "file")).values;
  if (spec.parameters.contains("reference")) options.reference = number_of(spec, "reference");
  return options;
}

LagOptions lag_options(const CorrectionSpec& spec) {
  return {.fraction = number_of(spec, "fraction"),
          .decay_frames = number_of(spec, "decay_frames"),
          .before = static_cast<LagStart>(choice_of(spec, "before", {"first-frame", "open-beam", "dark"}))};
}

PhaseOptions phase_options(const CorrectionSpec& spec) {
  PhaseOptions options{.energy_kev = number_of(spec, "energy_kev"),
                       .delta_over_beta = number_of(spec, "delta_over_beta")};
  if (spec.parameters.contains("distance_mm")) options.distance_mm = number_of(spec, "distance_mm");
  return options;
}

HardeningOptions hardening_options(const CorrectionSpec& spec) {
  HardeningOptions options;
  options.coefficients = numbers_of(spec, "coefficients");
  options.homogeneous = flag_of(spec, "homogeneous");
  options.degree = small_integer_of(spec, "degree");
  if (spec.parameters.contains("attenuation_per_mm"))
    options.attenuation_per_mm = number_of(spec, "attenuation_per_mm");
  if (!spec.parameters.contains("calibration")) return options;
  const std::filesystem::path file = file_of(spec, "calibration");
  const std::vector<double> numbers = read_number_file(file).values;
  if (numbers.empty() || numbers.size() % 2 != 0)
    refuse(spec, "the calibration is not a list of pairs", format("{} holds {} numbers", file.string(), numbers.size()),
           "each line holds a thickness in mm and the line integral measured behind it");
  auto& pairs = options.calibration.emplace();
  for (std::size_t i = 0; i < numbers.size(); i += 2) pairs.push_back({numbers[i], numbers[i + 1]});
  return options;
}

}  // namespace lepus

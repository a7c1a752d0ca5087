// SPDX-License-Identifier: Apache-2.0
#include "scan/correction_options.h"
#include "scan/parameters.h"

namespace lepus {

FilterCorrectionOptions filter_correction_options(const CorrectionSpec& spec) {
  FilterCorrectionOptions options;
  options.filter.kind = static_cast<FilterKind>(choice_of(spec, "filter", {"box", "gaussian", "median", "bilateral"}));
  options.filter.border =
      static_cast<FilterBorder>(choice_of(spec, "border", {"keep", "zero", "partial", "wrap", "mirror", "clamp"}));
  options.filter.radius = integer_of(spec, "radius_px");
  options.filter.sigma = number_of(spec, "sigma_px");
  options.filter.sigma_value = number_of(spec, "sigma_value");
  options.filter.dimensions = small_integer_of(spec, "dimensions");
  options.filter.iterations = small_integer_of(spec, "iterations");
  options.pictures =
      static_cast<FilterCorrectionOptions::Pictures>(choice_of(spec, "pictures", {"sinograms", "frames"}));
  options.value_range = number_of(spec, "value_range");
  return options;
}

}  // namespace lepus

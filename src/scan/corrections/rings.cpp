// SPDX-License-Identifier: Apache-2.0
#include "scan/correction_options.h"
#include "scan/parameters.h"

namespace lepus {

RingsOptions rings_options(const CorrectionSpec& spec) {
  const auto given = [&](const char* name) { return spec.parameters.contains(name); };
  RingsOptions options;
  const std::size_t method = choice_of(spec, "method", {"trend", "wavelet-fourier", "sorting", "combined", "auto"});
  options.method = method == 4 ? std::nullopt : std::optional(static_cast<RingMethod>(method));
  if (given("iterations")) options.iterations = small_integer_of(spec, "iterations");
  options.filter = choice_of(spec, "filter", {"bilateral", "median"}) == 0 ? FilterKind::bilateral : FilterKind::median;
  if (given("radius_px")) options.radius = integer_of(spec, "radius_px");
  if (given("sigma_px")) options.sigma = number_of(spec, "sigma_px");
  options.sigma_value = number_of(spec, "sigma_value");
  options.value_range = number_of(spec, "value_range");
  options.wavelet = small_integer_of(spec, "wavelet");
  if (given("levels")) options.levels = small_integer_of(spec, "levels");
  options.damping_sigma = number_of(spec, "damping_sigma");
  if (given("small_px")) options.small_size = integer_of(spec, "small_px");
  if (given("large_px")) options.large_size = integer_of(spec, "large_px");
  options.snr = number_of(spec, "snr");
  options.maximum_share = number_of(spec, "maximum_share");
  return options;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The correction "rings": stripes of sinograms taken out, band by band, in place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "correct/correction.h"
#include "correct/replaced_share.h"
#include "project/ring_options.h"

namespace lepus {

// As RingOptions, with windows that follow the length of the rows where they are not given (default_windows()).
struct RingsOptions {
  std::optional<RingMethod> method = RingOptions{}.method;  // none: chosen on some rows of the scan
  std::optional<int> iterations = {};  // none: once, or where the method is chosen as often as it helps
  FilterKind filter = RingOptions{}.filter;
  std::optional<std::int64_t> radius = {};
  std::optional<double> sigma = {};                // none: a third of the radius
  double sigma_value = RingOptions{}.sigma_value;  // as a share of value_range
  double value_range = 0;                          // 0: as value_range() of filters/filter_correction.h says
  int wavelet = RingOptions{}.wavelet;
  std::optional<int> levels = {};
  double damping_sigma = RingOptions{}.damping_sigma;
  std::optional<std::int64_t> small_size = {}, large_size = {};
  double snr = RingOptions{}.snr;
  double maximum_share = usual_maximum_share;  // of columns that `combined` takes for broken
  bool operator==(const RingsOptions&) const = default;
};

// Throws Error(usage) where options and scan do not go together.
std::unique_ptr<Correction> make_rings(const RingsOptions& options, const ScanFacts& facts);

}  // namespace lepus

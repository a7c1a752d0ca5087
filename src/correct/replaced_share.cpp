// SPDX-License-Identifier: Apache-2.0
#include "correct/replaced_share.h"

#include <string>

#include "core/format.h"
#include "correct/correction.h"

namespace lepus {
namespace {

std::string what_to_do(const CorrectionSpec& spec) {
  if (spec.kind == "dead-pixels") return "lower threshold, or check the flats and darks";
  if (spec.kind == "defect-map") return "check the map: all that is not zero in it is bad";
  if (spec.kind == "hot-pixels")
    return spec.parameters.contains("below") && flag_of(spec, "below")
               ? "set below = false, or raise tolerance"
               : "raise tolerance, make window_px and gap_px smaller, or leave it out";
  if (spec.kind == "zingers") return "raise tolerance, or leave it out";
  if (spec.kind == "rings") return "raise snr, or take another method";
  return "leave it out";
}

}  // namespace

double share_of(const ReplacedPixels& replaced) {
  return replaced.of > 0 ? static_cast<double>(replaced.pixels) / static_cast<double>(replaced.of) : 0;
}

std::string judge_replaced(const CorrectionSpec& spec, const ReplacedPixels& replaced, const std::string& what,
                           bool found) {
  const double share = share_of(replaced);
  const double maximum =
      spec.parameters.contains("maximum_share") ? number_of(spec, "maximum_share") : usual_maximum_share;
  const std::string figures = format("{:.2g} % of the {} ({} of {})", 100 * share, what, replaced.pixels, replaced.of);
  if (share > maximum)
    refuse(spec, format("it would replace {}", figures),
           format("at most {:g} % are allowed (maximum_share), and no detector has more than {:g} % bad", 100 * maximum,
                  100 * usual_maximum_share),
           what_to_do(spec) + "; maximum_share = 1 lets it replace any number");
  if (share <= (found ? usual_share : usual_maximum_share)) return {};
  return format("{} are replaced by what others around them say: {}", figures, what_to_do(spec));
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "correct/replaced_share.h"

#include "core/format.h"
#include "correct/correction.h"

namespace lepus {

double share_of(const ReplacedPixels& replaced) {
  return replaced.of > 0 ? static_cast<double>(replaced.pixels) / static_cast<double>(replaced.of) : 0;
}

std::string judge_replaced(const ReplacementRule& rule, const ReplacedPixels& replaced, const std::string& what) {
  const double share = share_of(replaced);
  const std::string figures = format("{:.2g} % of the {} ({} of {})", 100 * share, what, replaced.pixels, replaced.of);
  if (share > rule.maximum_share)
    refuse(rule.correction, format("it would replace {}", figures),
           format("at most {:g} % are allowed (maximum_share), and no detector has more than {:g} % bad",
                  100 * rule.maximum_share, 100 * usual_maximum_share),
           rule.what_to_do + "; maximum_share = 1 lets it replace any number");
  if (share <= (rule.found ? usual_share : usual_maximum_share)) return {};
  return format("{} are replaced by what others around them say: {}", figures, rule.what_to_do);
}

}  // namespace lepus

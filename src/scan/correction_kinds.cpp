// SPDX-License-Identifier: Apache-2.0
// The corrections that [[correct]] knows and their parameters; src/correct does the work.
#include "core/text.h"
#include "scan/kinds/kinds.h"

namespace lepus {
namespace {

// What every correction has beside its own parameters.
std::vector<ScanKey> common_keys(const CorrectionKind& kind) {
  const bool either = kind.works_on == "either", both = either || kind.works_on.find(' ') != std::string_view::npos;
  const std::string_view by_default = either                              ? "what it finds where it stands"
                                      : kind.works_on.starts_with("grey") ? "grey-levels"
                                                                          : "line-integrals";
  return {
      {"correct", "on", ScanKeyType::choice, "", "", by_default,
       both ? "Before the log (`grey-levels`, 1 in the open beam) or after it." : "It works on nothing else.",
       either ? "grey-levels line-integrals" : kind.works_on},
      {"correct", "write", ScanKeyType::text, "", "", "nothing is written",
       "A volume file for the sinograms (row, view, column) as they are after this correction; `.mha` where it has no "
       "ending.",
       ""}};
}

std::vector<CorrectionKind> all_kinds() {
  std::vector<CorrectionKind> all;
  for (const auto& family : {pixel_kinds(), filter_kinds(), ring_kinds(), beam_kinds()})
    for (CorrectionKind kind : family) {
      for (const ScanKey& key : common_keys(kind)) kind.parameters.push_back(key);
      all.push_back(std::move(kind));
    }
  return all;
}

}  // namespace

std::span<const CorrectionKind> correction_kinds() {
  static const std::vector<CorrectionKind> kinds = all_kinds();
  return kinds;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "run/make_correction.h"

#include <map>
#include <string_view>

#include "correct/beam/beam.h"
#include "correct/filters/filter_correction.h"
#include "correct/pixels/pixels.h"
#include "correct/rings/rings_correction.h"
#include "preprocess/dead_pixels.h"

namespace lepus {
namespace {

std::unique_ptr<Correction> dead_pixels_of_flats(const CorrectionSpec& spec, const ScanFacts& facts,
                                                 const CorrectionSources& sources) {
  if (!sources.normalisation)
    refuse(spec, "there is nothing to find dead pixels in", "the frames hold line integrals, so there are no flats",
           "name the pixels with kind = \"defect-map\"");
  return make_dead_pixels(spec, facts, facts.columns,
                          dead_pixels(*sources.normalisation, number_of(spec, "threshold")));
}

std::unique_ptr<Correction> defects_of_selection(const CorrectionSpec& spec, const ScanFacts& facts,
                                                 const CorrectionSources& sources) {
  const Scan& scan = *sources.scan;
  return make_defect_map(spec, facts,
                         {.folder = spec.folder,
                          .columns = scan.recorded.columns,
                          .rows = scan.recorded.rows,
                          .first_row = scan.selection.first_row,
                          .row_step = scan.selection.row_step});
}

}  // namespace

std::unique_ptr<Correction> make_correction(const CorrectionSpec& spec, const ScanFacts& facts,
                                            const CorrectionSources& sources) {
  if (spec.kind == "dead-pixels") return dead_pixels_of_flats(spec, facts, sources);
  if (spec.kind == "defect-map") return defects_of_selection(spec, facts, sources);
  static const std::map<std::string_view, MakeCorrection*> makers{
      {"hot-pixels", make_hot_pixels}, {"zingers", make_zingers}, {"filter", make_filter}, {"rings", make_rings},
      {"drift", make_drift},           {"dose", make_dose},       {"lag", make_lag},       {"phase", make_phase},
      {"hardening", make_hardening}};
  const auto found = makers.find(spec.kind);
  if (found == makers.end()) refuse(spec, "this build does not know it", "", "docs/scan-file.md lists all kinds");
  return found->second(spec, facts);
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "live/view_corrections.h"

#include <numeric>

#include "scan/parameters.h"
#include "run/correction_chain.h"
#include "io/number_file.h"

namespace lepus {
namespace {

bool is_given(const CorrectionSpec& spec, const std::string& name) { return spec.parameters.contains(name); }

// Why a correction cannot be done to single views; "" where it can.
std::string needs_other_views(const CorrectionSpec& spec, Stage stage) {
  if (spec.kind == "dead-pixels" || spec.kind == "defect-map" || spec.kind == "phase" || spec.kind == "dose") return {};
  if (spec.kind == "drift")
    return is_given(spec, "region_px") ? "" : "where there is air is found in all views; give region_px";
  if (spec.kind == "hardening") return flag_of(spec, "homogeneous") ? "the polynomial is fitted to the whole scan" : "";
  if (spec.kind == "filter") {
    if (integer_of(spec, "dimensions") == 2 && text_of(spec, "pictures") == "sinograms")
      return "it smooths across views; pictures = \"frames\" does not";
    const bool range_needed =
        text_of(spec, "filter") == "bilateral" && stage == Stage::line_integrals && number_of(spec, "value_range") <= 0;
    return range_needed ? "the range of values is measured in all views; give value_range" : "";
  }
  return "it compares views with each other";
}

// Every view is divided by its own dose; what all views have in common is put in as a number. Empty where the number of
// doses is wrong: the correction itself says so.
std::vector<double> take_doses(CorrectionSpec& spec, std::int64_t views) {
  std::vector<double> values =
      is_given(spec, "file") ? read_number_file(file_of(spec, "file")).values : numbers_of(spec, "values");
  if (static_cast<std::int64_t>(values.size()) != views) return {};
  if (!is_given(spec, "reference"))
    spec.parameters["reference"] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  spec.parameters.erase("file");
  spec.parameters.erase("values");
  return values;
}

}  // namespace

ViewCorrections corrections_of_views(const Scan& scan) {
  ViewCorrections made;
  const std::vector<Stage> stages = place_corrections(scan.corrections);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    CorrectionSpec spec = scan.corrections[i];
    if (const std::string why = needs_other_views(spec, stages[i]); !why.empty()) {
      made.left_out.push_back({spec.kind, why, spec.line});
      continue;
    }
    if (spec.parameters.erase("write") > 0)
      made.left_out.push_back({"write of " + spec.kind, "sinograms are only whole at the end", spec.line});
    // Where others are left out it must stay on its side of the log.
    spec.parameters["on"] = std::string(stages[i] == Stage::grey_levels ? "grey-levels" : "line-integrals");
    if (spec.kind == "dose")
      if (auto doses = take_doses(spec, scan.geometry.views()); !doses.empty())
        made.doses[made.chain.size()] = std::move(doses);
    made.chain.push_back(std::move(spec));
  }
  return made;
}

std::vector<CorrectionSpec> chain_of_view(const ViewCorrections& corrections, std::int64_t view) {
  std::vector<CorrectionSpec> chain = corrections.chain;
  for (const auto& [place, doses] : corrections.doses)
    chain[place].parameters["values"] = std::vector<double>{doses[static_cast<std::size_t>(view)]};
  return chain;
}

Scan scan_of_one_view(const Scan& scan, const ViewCorrections& corrections, const std::filesystem::path& file) {
  Scan one = scan;
  one.frames.files = {file};
  one.recorded.frames = 1;
  one.selection.frames = {0};
  one.geometry.matrices.resize(1);
  one.corrections = chain_of_view(corrections, 0);
  return one;
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "live/view_corrections.h"

#include <numeric>

#include "core/format.h"
#include "run/correction_chain.h"
#include "scan/correction_options.h"
#include "scan/parameters.h"

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

std::vector<double> doses_of(const CorrectionSpec& spec, std::int64_t views) {
  std::vector<double> values = dose_options(spec).values;
  if (std::ssize(values) != views)
    refuse(spec, format("{} doses for {} views", values.size(), views), "every selected view needs its own",
           "give one number for each view, in the order of the views");
  return values;
}

void give_doses(CorrectionSpec& spec, std::vector<double> values) {
  spec.parameters.erase("file");
  spec.parameters.erase("column");
  spec.parameters["values"] = std::move(values);
}

// Every view is divided by its own dose; what all views have in common is put in as a number.
std::vector<double> take_doses(CorrectionSpec& spec, std::int64_t views) {
  std::vector<double> values = doses_of(spec, views);
  if (!is_given(spec, "reference"))
    spec.parameters["reference"] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  give_doses(spec, {});
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
    if (spec.kind == "dose") made.doses[made.chain.size()] = take_doses(spec, scan.geometry.views());
    made.chain.push_back(std::move(spec));
  }
  return made;
}

Scan scan_of_views(const Scan& scan, const std::vector<std::int64_t>& views) {
  const auto of_views = [&](const auto& all) {
    std::decay_t<decltype(all)> some;
    for (const std::int64_t view : views) some.push_back(all[static_cast<std::size_t>(view)]);
    return some;
  };
  Scan fewer = scan;
  fewer.selection.frames = of_views(scan.selection.frames);
  fewer.geometry.matrices = of_views(scan.geometry.matrices);
  for (CorrectionSpec& spec : fewer.corrections)
    if (spec.kind == "dose") give_doses(spec, of_views(doses_of(spec, scan.geometry.views())));
  return fewer;
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

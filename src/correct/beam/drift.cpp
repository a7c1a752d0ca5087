// SPDX-License-Identifier: Apache-2.0
// "drift" and "dose": every frame of grey levels divided by the strength that the beam had in it, seen in air or given.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/format.h"
#include "correct/beam/air_region.h"
#include "correct/beam/beam.h"
#include "correct/beam/view_loops.h"
#include "scan/number_column.h"
#include "scan/number_file.h"
#if LEPUS_HAVE_CUDA
#include "device/cuda/cuda_check.h"
#include "correct/beam/beam_launch.h"
#include "correct/workspace.h"
#endif

namespace lepus {
namespace {

class FrameStrength final : public Correction {
public:
  FrameStrength(const std::vector<double>& strengths, std::string summary) : summary_(std::move(summary)) {
    for (const double strength : strengths) factors_.push_back(static_cast<float>(1 / strength));
  }

  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) override {
    scale_views(band.sinograms(wanted), factors_, threads);
  }

  void apply_on_device([[maybe_unused]] const SinogramBand& band, [[maybe_unused]] RowBand wanted,
                       [[maybe_unused]] cuda::Workspace& workspace) override {
#if LEPUS_HAVE_CUDA
    const cuda::Workspace::Scope scope(workspace);
    auto* factors = workspace.take<float>(static_cast<std::int64_t>(factors_.size()));
    cuda::check(cudaMemcpyAsync(factors, factors_.data(), factors_.size() * sizeof(float), cudaMemcpyHostToDevice,
                                workspace.stream()),
                "copy the strengths of the beam to the device");
    cuda::launch_scale_views(band.sinograms(wanted), factors, workspace.stream());
#else
    no_device_here("drift");
#endif
  }

  std::string summary() const override { return summary_; }

private:
  std::vector<float> factors_;
  std::string summary_;
};

struct Extent {
  double least, most;
};
Extent extent_of(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

AirPart given_region(const CorrectionSpec& spec, const ScanFacts& facts, const std::vector<double>& region) {
  const bool whole =
      region.size() == 4 && std::all_of(region.begin(), region.end(), [](double v) { return std::floor(v) == v; });
  if (!whole || region[0] < 0 || region[2] < 0 || region[1] > static_cast<double>(facts.columns) ||
      region[3] > static_cast<double>(facts.rows) || region[0] >= region[1] || region[2] >= region[3])
    refuse(spec, "region_px is not a part of the detector",
           format("the frames have {} columns and {} rows", facts.columns, facts.rows),
           "give [first column, end column, first row, end row] in whole pixels, of a part that shows only air");
  const auto at = [&](std::size_t i) { return static_cast<std::int64_t>(region[i]); };
  return air_part(at(0), at(1), at(2), at(3));
}

std::string words_of(const std::vector<AirPart>& parts) {
  std::string words;
  for (const AirPart& part : parts)
    words += format("{}columns {} to {}", words.empty() ? "" : " and ", part.column0, part.column1 - 1);
  return words;
}

constexpr const char* elsewhere =
    "give another region_px = [first column, end column, first row, end row] that is air in every view, or use kind = "
    "\"dose\"";

// An air region that is not air: errors where the result would be useless, warnings where a person should look.
void check_air(const CorrectionSpec& spec, const ScanFacts& facts, const AirLevels& air, const std::string& where) {
  const double lowest = number_of(spec, "lowest_level");
  if (!(air.lowest >= lowest))
    refuse(spec, "the air region does not look like air",
           format("{} go down to {:.3g} of the open beam, below lowest_level = {:.3g}", where, air.lowest, lowest),
           format("the object is in front of it: {}; if the beam really became so weak, set lowest_level", elsewhere));
  for (std::size_t view = 0; view < air.levels.size(); ++view)
    if (!(air.levels[view] >= 0.01 * air.lowest))
      refuse(spec, "a frame without beam", format("view {} has {:.3g} in the air region", view, air.levels[view]),
             "leave the view out, or remove the correction");
  if (air.movement > 0.005 && air.movement_over_noise > 3)
    warn(facts, spec,
         format("parts of the air region change by {:.1f} % against each other, {:.0f} times their noise: the object "
                "may pass through it ({}); {}",
                100 * air.movement, air.movement_over_noise, where, elsewhere));
  if (air.brighter > 0.1)
    warn(facts, spec,
         format("{:.0f} % of the pixels are brighter than the air region by 5 % or more: it may lie inside the object "
                "({}); {}",
                100 * air.brighter, where, elsewhere));
}

std::vector<double> dose_values(const CorrectionSpec& spec, const ScanFacts& facts) {
  std::vector<double> values = numbers_of(spec, "values");
  const bool has_file = spec.parameters.contains("file");
  if (values.empty() != has_file)
    refuse(spec, "the doses are not given", has_file ? "there are both values and a file" : "no values and no file",
           "give values = [one number per view], or file = \"...\" with one number per view");
  const bool has_column = spec.parameters.contains("column");
  if (has_column && !has_file)
    refuse(spec, "a column of no file", "column = is for a table in a file",
           "give file = \"...\", or leave column out");
  if (has_file)
    values = has_column ? read_number_column(file_of(spec, "file"), text_of(spec, "column"))
                        : read_number_file(file_of(spec, "file")).values;
  if (static_cast<std::int64_t>(values.size()) != facts.views)
    refuse(spec, format("{} doses for {} views", values.size(), facts.views), "every selected view needs its own",
           "give one number for each view, in the order of the views");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] > 0) || !std::isfinite(values[i]))
      refuse(spec, format("the dose of view {} is {}", i, values[i]), "frames are divided by it",
             "doses must be positive; leave views without beam out");
  return values;
}

}  // namespace

std::unique_ptr<Correction> make_drift(const CorrectionSpec& spec, const ScanFacts& facts) {
  require_stage(spec, facts, Stage::grey_levels);
  const FrameRows frames{facts.columns, facts.rows, facts.views, facts.band};
  const std::vector<double> region = numbers_of(spec, "region_px");
  const std::vector<AirPart> parts =
      region.empty() ? find_air(frames) : std::vector<AirPart>{given_region(spec, facts, region)};
  if (parts.empty())
    refuse(spec, "no air was found at the left and right edges of the frames",
           "the outermost columns change from view to view against each other, or are dark",
           "give region_px = [first column, end column, first row, end row] that is air in every view, or use kind = "
           "\"dose\"");
  const AirLevels air = measure_air(frames, parts);
  const std::string where = words_of(parts);
  check_air(spec, facts, air, where);
  const auto [least, most] = extent_of(air.levels);
  return std::make_unique<FrameStrength>(
      air.levels, format("beam of {:.4g} to {:.4g} of the flats' in {} views, seen in {} of air ({}){}", least, most,
                         facts.views, air.pixels == 1 ? "1 pixel" : format("{} pixels", air.pixels), where,
                         // Parts of the region are compared: a single pixel has none, and says nothing of its noise.
                         air.noise > 0 ? format(", each level known to {:.2g} %", 100 * air.noise) : ""));
}

std::unique_ptr<Correction> make_dose(const CorrectionSpec& spec, const ScanFacts& facts) {
  require_stage(spec, facts, Stage::grey_levels);
  std::vector<double> values = dose_values(spec, facts);
  double reference = spec.parameters.contains("reference") ? number_of(spec, "reference") : 0;
  if (reference == 0) {
    for (const double value : values) reference += value;
    reference /= static_cast<double>(values.size());
  }
  if (!(reference > 0) || !std::isfinite(reference))
    refuse(spec, format("the reference dose is {}", reference), "doses are divided by it", "it must be positive");
  for (double& value : values) value /= reference;
  const auto [least, most] = extent_of(values);
  return std::make_unique<FrameStrength>(values, format("{} views divided by their dose, {:.4g} to {:.4g} of {:.6g}",
                                                        facts.views, least, most, reference));
}

}  // namespace lepus

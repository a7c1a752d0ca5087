// SPDX-License-Identifier: Apache-2.0
// "drift" and "dose": every frame of grey levels divided by the strength that the beam had in it, seen in air or given.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/format.h"
#include "correct/beam/air_region.h"
#include "correct/beam/beam.h"
#include "device/device_table.h"

namespace lepus {
namespace {

class FrameStrength final : public Correction {
public:
  FrameStrength(const std::vector<double>& strengths, std::string summary)
      : factors_(factors_of(strengths)), table_(factors_), summary_(std::move(summary)) {}

  bool needs_all_views() const override { return false; }  // every view has its factor

  BandOperation operation() const override { return BandOperation::scale; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    queue.device().band_kernels().scale_views(band.sinograms(wanted), table_.on(queue), queue);
  }

  std::string summary() const override { return summary_; }

private:
  static std::vector<float> factors_of(const std::vector<double>& strengths) {
    std::vector<float> factors;
    factors.reserve(strengths.size());
    for (const double strength : strengths) factors.push_back(static_cast<float>(1 / strength));
    return factors;
  }

  std::vector<float> factors_;
  DeviceTable<float> table_;  // of them
  std::string summary_;
};

struct Extent {
  double least, most;
};
Extent extent_of(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

AirPart given_region(const DriftOptions::Region& region, const ScanFacts& facts) {
  if (region.column0 < 0 || region.row0 < 0 || region.column1 > facts.columns || region.row1 > facts.rows ||
      region.column0 >= region.column1 || region.row0 >= region.row1)
    refuse("drift", "region_px is not a part of the detector",
           format("the frames have {} columns and {} rows", facts.columns, facts.rows),
           "give [first column, end column, first row, end row] in whole pixels, of a part that shows only air");
  return air_part(region.column0, region.column1, region.row0, region.row1);
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
void check_air(double lowest, const ScanFacts& facts, const AirLevels& air, const std::string& where) {
  if (!(air.lowest >= lowest))
    refuse("drift", "the air region does not look like air",
           format("{} go down to {:.3g} of the open beam, below lowest_level = {:.3g}", where, air.lowest, lowest),
           format("the object is in front of it: {}; if the beam really became so weak, set lowest_level", elsewhere));
  for (std::size_t view = 0; view < air.levels.size(); ++view)
    if (!(air.levels[view] >= 0.01 * air.lowest))
      refuse("drift", "a frame without beam", format("view {} has {:.3g} in the air region", view, air.levels[view]),
             "leave the view out, or remove the correction");
  if (air.movement > 0.005 && air.movement_over_noise > 3)
    warn(facts,
         format("parts of the air region change by {:.1f} % against each other, {:.0f} times their noise: the object "
                "may pass through it ({}); {}",
                100 * air.movement, air.movement_over_noise, where, elsewhere));
  if (air.brighter > 0.1)
    warn(facts,
         format("{:.0f} % of the pixels are brighter than the air region by 5 % or more: it may lie inside the object "
                "({}); {}",
                100 * air.brighter, where, elsewhere));
}

void check_doses(const std::vector<double>& values, const ScanFacts& facts) {
  if (static_cast<std::int64_t>(values.size()) != facts.views)
    refuse("dose", format("{} doses for {} views", values.size(), facts.views), "every selected view needs its own",
           "give one number for each view, in the order of the views");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] > 0) || !std::isfinite(values[i]))
      refuse("dose", format("the dose of view {} is {}", i, values[i]), "frames are divided by it",
             "doses must be positive; leave views without beam out");
}

}  // namespace

std::unique_ptr<Correction> make_drift(const DriftOptions& options, const ScanFacts& facts) {
  require_stage("drift", facts, Stage::grey_levels);
  const FrameRows frames{facts.columns, facts.rows, facts.views, facts.band};
  const std::vector<AirPart> parts =
      options.region ? std::vector<AirPart>{given_region(*options.region, facts)} : find_air(frames);
  if (parts.empty())
    refuse("drift", "no air was found at the left and right edges of the frames",
           "the outermost columns change from view to view against each other, or are dark",
           "give region_px = [first column, end column, first row, end row] that is air in every view, or use kind = "
           "\"dose\"");
  const AirLevels air = measure_air(frames, parts);
  const std::string where = words_of(parts);
  check_air(options.lowest_level, facts, air, where);
  const auto [least, most] = extent_of(air.levels);
  return std::make_unique<FrameStrength>(
      air.levels, format("beam of {:.4g} to {:.4g} of the flats' in {} views, seen in {} of air ({}){}", least, most,
                         facts.views, air.pixels == 1 ? "1 pixel" : format("{} pixels", air.pixels), where,
                         // Parts of the region are compared: a single pixel has none, and says nothing of its noise.
                         air.noise > 0 ? format(", each level known to {:.2g} %", 100 * air.noise) : ""));
}

std::unique_ptr<Correction> make_dose(const DoseOptions& options, const ScanFacts& facts) {
  require_stage("dose", facts, Stage::grey_levels);
  std::vector<double> values = options.values;
  check_doses(values, facts);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  const double reference = options.reference.value_or(mean);
  if (!(reference > 0) || !std::isfinite(reference))
    refuse("dose", format("the reference dose is {}", reference), "doses are divided by it", "it must be positive");
  for (double& value : values) value /= reference;
  const auto [least, most] = extent_of(values);
  return std::make_unique<FrameStrength>(values, format("{} views divided by their dose, {:.4g} to {:.4g} of {:.6g}",
                                                        facts.views, least, most, reference));
}

}  // namespace lepus

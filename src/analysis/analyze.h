// SPDX-License-Identifier: Apache-2.0
// The whole way of an analysis: volume -> region -> noise, resolution,
// difference from another volume, distance from a nominal surface; -> threshold -> phase -> sample -> components ->
// blobs, porosity, thickness. The volumes that come out are written on the way.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/against.h"
#include "analysis/blobs.h"
#include "analysis/noise.h"
#include "analysis/nominal.h"
#include "analysis/phase.h"
#include "analysis/porosity.h"
#include "analysis/resolution.h"
#include "analysis/sample.h"
#include "analysis/slices.h"
#include "analysis/thickness.h"
#include "analysis/watershed.h"
#include "io/kept_stages.h"

namespace lepus::analysis {

struct AnalysisOptions {
  Region region;
  ThresholdOptions threshold;
  PhaseChoice phase;
  SampleOptions sample;
  std::vector<MorphologyStep> clean;
  Device* device = nullptr;  // for these, where it can; null: the host
  Connectivity connectivity = Connectivity::corners;
  bool porosity = true, blobs = true, thickness = false;  // none: no phase is looked for
  std::optional<NoiseOptions> noise;
  std::optional<ResolutionOptions> resolution;
  std::optional<AgainstOptions> against;
  std::optional<NominalOptions> nominal;
  std::optional<double> part_depth;                     // given: blobs that touch are parted
  std::int64_t minimum_voxels = 1, maximum_voxels = 0;  // of a blob; 0: no limit
  bool closed_only = false;  // no blobs that touch the border of the region; not with part_depth
  std::string sort = "volume";
  std::int64_t cell = 0;     // edge of a cell of the porosity map in voxels; 0: a sixteenth of the longest side
  std::int64_t bins = 1024;  // of the histogram, where values are no small integers
  // Volumes to write; "": not.
  std::filesystem::path labels, map, phase_map, distance_map, thickness_map;
  std::string provenance;  // for these, JSON
  std::int64_t memory_bytes = 0;
  std::filesystem::path scratch_folder;
  KeptStages* stages = nullptr;  // what an earlier run finished, and for the next one; null: neither

  bool needs_phase() const { return porosity || blobs || thickness || !phase_map.empty() || !distance_map.empty(); }
};

struct ValueStatistics {
  std::int64_t voxels = 0;
  double mean = 0, spread = 0;  // spread: standard deviation
};

struct Analysis {
  Survey survey;
  Histogram histogram;
  std::optional<NoiseResult> noise;
  std::optional<ResolutionResult> resolution;
  std::optional<AgainstResult> against;
  std::optional<NominalResult> nominal;
  std::optional<PhaseResult> phase;  // where one was looked for; what follows is of it
  std::optional<SampleReport> sample;
  std::int64_t inside = 0, phase_inside = 0;  // voxels that are analysed, and of them in the phase
  ValueStatistics phase_values, rest_values;  // of the phase, and of what else is inside
  std::optional<Porosity> porosity;
  std::vector<Blob> blobs;                         // sorted
  std::int64_t components = 0;                     // of the phase, all of them
  std::int64_t left_out = 0, left_out_voxels = 0;  // blobs that are too small, too large or open
  std::optional<ThicknessResult> thickness, wall;
  std::vector<Slice> phase_slices;  // through the middle: 0 outside, 1 inside, 2 in the phase
};

// |difference of the means| / root mean square of the two spreads.
double contrast_to_noise(const ValueStatistics& a, const ValueStatistics& b);

// Throws Error(input) where the threshold selects all voxels or none.
Analysis analyze(const VolumeReader& volume, const AnalysisOptions& options, Context& context);

}  // namespace lepus::analysis

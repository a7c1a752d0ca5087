// SPDX-License-Identifier: Apache-2.0
// The corrections that know of the beam: how strong it was in each frame (drift, dose), what the detector remembers of
// earlier frames (lag), which of its energies come through (hardening) and how its waves spread (phase).
// docs/corrections/beam.md, hardening.md and phase.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "project/beam_formulas.h"
#include "correct/beam/flat_series.h"
#include "correct/correction.h"

namespace lepus {

// Makers throw Error(usage) where options and scan do not go together.

// Grey levels.
struct DriftOptions {
  // Columns [column0, column1) of rows [row0, row1) that show only air.
  struct Region {
    std::int64_t column0 = 0, column1 = 0, row0 = 0, row1 = 0;
    bool operator==(const Region&) const = default;
  };
  std::optional<Region> region = {};  // none: found at the left and right edges
  double lowest_level = 0.8;          // of the open beam: a region that gets darker is not air
  bool operator==(const DriftOptions&) const = default;
};
std::unique_ptr<Correction> make_drift(const DriftOptions& options, const ScanFacts& facts);

struct DoseOptions {
  std::vector<double> values = {};       // of every view, in any unit
  std::optional<double> reference = {};  // of the flats, in the same unit; none: the mean of all views
  bool operator==(const DoseOptions&) const = default;
};
std::unique_ptr<Correction> make_dose(const DoseOptions& options, const ScanFacts& facts);

struct LagOptions {
  double fraction = 0.02;   // of a frame that is memory of the ones before it
  double decay_frames = 3;  // in which the memory fades to 1/e
  LagStart before = LagStart::first_frame;
  bool operator==(const LagOptions&) const = default;
};
std::unique_ptr<Correction> make_lag(const LagOptions& options, const ScanFacts& facts);

struct PhaseOptions {
  double energy_kev = 0;                   // of the photons
  double delta_over_beta = 0;              // of the object's material
  std::optional<double> distance_mm = {};  // from the rotation axis to the detector; none: from the geometry
  bool operator==(const PhaseOptions&) const = default;
};
std::unique_ptr<Correction> make_phase(const PhaseOptions& options, const ScanFacts& facts);

// mean: what the grey levels were made with, rows x columns, dark subtracted as in the series.
std::unique_ptr<Correction> make_flat_interpolation(FlatSeries series, Buffer<float> mean);

// Line integrals. Of coefficients, calibration and homogeneous one says where the curve comes from.
struct HardeningOptions {
  std::vector<double> coefficients = {};  // of p, p^2, ...; up to six
  struct Pair {
    double thickness_mm = 0, line_integral = 0;
    bool operator==(const Pair&) const = default;
  };
  std::optional<std::vector<Pair>> calibration = {};
  double attenuation_per_mm = 0;  // of the calibration's material; 0: the mean of the calibration
  bool homogeneous = false;       // the object is of one material: the curve is fitted to the scan
  int degree = 3;                 // of a curve that is calibrated or fitted
  bool operator==(const HardeningOptions&) const = default;
};
std::unique_ptr<Correction> make_hardening(const HardeningOptions& options, const ScanFacts& facts);

}  // namespace lepus

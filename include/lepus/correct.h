// SPDX-License-Identifier: Apache-2.0
// Frames in memory to corrected line integrals, without a scan file: options for each correction, done in the order in
// which they are given. docs/corrections/ says what each does, docs/library.md how they are put together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <lepus/compute.h>
#include <lepus/geometry.h>
#include <lepus/progress.h>

namespace lepus {

// Grey levels are counts above the dark as a share of the open beam, line integrals -ln of them. Corrections that work
// on either do so on grey levels where one that needs them follows.
namespace corrections {

// Columns of sinograms that stand out. Either.
struct HotPixels {
  double tolerance = 4;  // standard deviations
  bool below = false;    // those that are too quiet, too
  int iterations = 3;
};
// Single values that stand out. Either.
struct Zingers {
  double tolerance = 8;  // standard deviations
  int radius_views = 2;  // views on each side that are looked at: 1, 2 or 3
};
// Known pixels, row * columns + column, are bridged. Either.
struct DeadPixels {
  std::vector<std::int64_t> pixels = {};
};
// The beam's strength from a region of air. Grey levels.
struct Drift {
  struct Region {
    std::int64_t column0 = 0, column1 = 0, row0 = 0, row1 = 0;  // [column0, column1) x [row0, row1)
  };
  std::optional<Region> air = {};  // none: found at the left and right edges
};
// The beam's strength as it was measured. Grey levels.
struct Dose {
  std::vector<double> values = {};       // of every view, in any unit
  std::optional<double> reference = {};  // of the flats; none: the mean of all views
};
// What a detector remembers of the frames before. Grey levels.
struct Lag {
  double fraction = 0.02, decay_frames = 3;
};
// Paganin's filter. Grey levels.
struct Phase {
  double energy_kev = 0, delta_over_beta = 0;
  std::optional<double> distance_mm = {};  // from the axis to the detector; none: from the geometry
};
// p becomes c1 p + c2 p^2 + ... Line integrals.
struct Hardening {
  std::vector<double> coefficients = {};  // up to six
};
// Stripes of sinograms. Either.
struct Rings {
  enum class Method { automatic, trend, wavelet_fourier, sorting, combined };
  Method method = Method::trend;
};

}  // namespace corrections

using CorrectionStep =
    std::variant<corrections::HotPixels, corrections::Zingers, corrections::DeadPixels, corrections::Drift,
                 corrections::Dose, corrections::Lag, corrections::Phase, corrections::Hardening, corrections::Rings>;

// What counts are held against: the mean flat and dark, rows x columns, or one number for all pixels.
struct OpenBeam {
  std::span<const float> flat = {}, dark = {};  // no flat: `counts`; no dark: zero
  double counts = 0;                            // above the dark
};

struct CorrectOptions {
  int threads = 0;  // of the host, which does all of it; 0: one per hardware thread
  const CancelFlag* cancel = nullptr;
  Progress* progress = nullptr;  // null: nobody is told
};

// Arrays are views x rows x columns of the recorded detector, u fastest; as much memory again is taken. Both return
// what each step found and did, and where a person should look, which is a warning of `progress`, too. Throw
// Error(usage) where sizes or options do not go together, where a step that needs grey levels follows one that needs
// line integrals, or where a step replaces more than a tenth of the pixels; Error(input) where a value is not a number.
LEPUS_API std::vector<std::string> correct_counts(const ScanGeometry& geometry, std::span<const float> counts,
                                                  const OpenBeam& beam, std::span<const CorrectionStep> steps,
                                                  std::span<float> line_integrals, const CorrectOptions& options = {});
// In place.
LEPUS_API std::vector<std::string> correct_line_integrals(const ScanGeometry& geometry, std::span<float> line_integrals,
                                                          std::span<const CorrectionStep> steps,
                                                          const CorrectOptions& options = {});

}  // namespace lepus

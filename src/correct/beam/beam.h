// SPDX-License-Identifier: Apache-2.0
// The corrections that know of the beam: how strong it was in each frame (drift, dose), what the detector remembers of
// earlier frames (lag), which of its energies come through (hardening) and how its waves spread (phase).
// docs/corrections/beam.md, hardening.md and phase.md.
#pragma once

#include <memory>

#include "correct/beam/flat_series.h"
#include "correct/correction.h"

namespace lepus {

// Grey levels.
std::unique_ptr<Correction> make_drift(const CorrectionSpec& spec, const ScanFacts& facts);
std::unique_ptr<Correction> make_dose(const CorrectionSpec& spec, const ScanFacts& facts);
std::unique_ptr<Correction> make_lag(const CorrectionSpec& spec, const ScanFacts& facts);
std::unique_ptr<Correction> make_phase(const CorrectionSpec& spec, const ScanFacts& facts);
// mean: what the grey levels were made with, rows x columns, dark subtracted as in the series.
std::unique_ptr<Correction> make_flat_interpolation(FlatSeries series, Buffer<float> mean);
// Line integrals.
std::unique_ptr<Correction> make_hardening(const CorrectionSpec& spec, const ScanFacts& facts);

// Error(input) where the chain has placed the correction on the wrong side of the log, with the order that would work.
void require_stage(const CorrectionSpec& spec, const ScanFacts& facts, Stage wanted);

// What apply_on_device says in a build without CUDA.
[[noreturn]] void no_device_here(const char* kind);

}  // namespace lepus

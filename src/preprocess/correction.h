// SPDX-License-Identifier: Apache-2.0
// The chain of corrections that a scan file orders. Each works on row blocks of one view, on grey levels (before the
// log) or on line integrals (after it), so that it streams with the sweep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "preprocess/normalise.h"
#include "scan/scan.h"

namespace lepus {

enum class Stage { counts, line_integrals };

class Correction {
public:
  virtual ~Correction() = default;
  virtual std::string kind() const = 0;
  virtual Stage stage() const = 0;
  // Rows [row0, row1) of a view, u fastest, in place.
  virtual void apply(std::int64_t view, std::int64_t row0, std::int64_t row1, float* rows) const = 0;
  // Pixels (row * columns + column, ascending) that are bridged along their row, where that is all it does; for devices
  // that do the same.
  virtual const std::vector<std::int64_t>* bridged_pixels() const { return nullptr; }
  virtual std::string summary() const = 0;  // what it found, for the report: "3 dead pixels replaced"
};

using CorrectionChain = std::vector<std::unique_ptr<Correction>>;

CorrectionChain make_corrections(const std::vector<CorrectionSpec>& specs, const Normalisation& normalisation);

// Dead pixels, known from flats and darks: where the flat is not above the dark, or is below `threshold` times the
// median flat, the line integral is interpolated between the nearest good pixels of the row.
std::unique_ptr<Correction> make_dead_pixels(const CorrectionSpec& spec, const Normalisation& normalisation);

}  // namespace lepus

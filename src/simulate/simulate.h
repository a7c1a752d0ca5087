// SPDX-License-Identifier: Apache-2.0
// A scan as a scanner would have written it: what lepus/simulate.h declares, in the context of a caller, and the
// phantoms by their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/context.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/detector.h"
#include "simulate/project.h"
#include <lepus/geometry.h>
#include <lepus/simulate.h>

namespace lepus {

struct MadePhantom {
  Phantom phantom;
  std::vector<Vec3> centres_mm;  // of pores or beads
  std::vector<double> radii_mm;
  std::optional<double> porosity;
  double porosity_uncertainty = 0;
};

// fitting_mm: the size where the choice gives none. Throws Error(usage) with the nearest name.
MadePhantom make_phantom(const PhantomChoice& choice, double fitting_mm, std::uint64_t seed);
// 80 % of the smaller of the field of view's diameter and the height that every view sees on the axis.
double fitting_size_mm(const ScanGeometry& geometry);

// Throws Error(usage) naming the option. simulate_scan calls it.
void check(const SimulationOptions& options);

SimulationReport simulate_scan(const SimulationOptions& options, const std::filesystem::path& folder, Context& context);

}  // namespace lepus

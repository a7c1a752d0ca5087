// SPDX-License-Identifier: Apache-2.0
// The text files of a simulated scan: scan.toml, angles.txt, jitter.csv and truth.json.
#pragma once

#include <string>
#include <vector>

#include "simulate/simulate.h"

namespace lepus {

struct ScanText {
  const SimulationOptions& options;
  const ScanGeometry& geometry;  // as the scan file says it
  const VolumeGrid& grid;
  const MadePhantom& phantom;
  const Detector* detector = nullptr;    // null for line integrals
  std::vector<ViewPerturbation> jitter;  // known or not
  bool perturbations_file = false;
  std::vector<double> beam;  // per view
  bool raw = false;
  bool equal_steps = false;  // angles as first and step, else in angles.txt
  double energy_kev = 0;     // at which the truth holds; 0: one energy, no materials
};

bool has_equal_steps(const std::vector<double>& angles_rad);
std::string scan_toml(const ScanText& scan);
std::string angles_text(const std::vector<double>& angles_rad);
std::string perturbations_csv(const std::vector<ViewPerturbation>& perturbations);
std::string truth_provenance(const std::string& phantom, int samples_per_axis);  // JSON for the truth volume
std::string truth_json(const ScanText& scan, const SimulationReport& report);

}  // namespace lepus

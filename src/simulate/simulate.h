// SPDX-License-Identifier: Apache-2.0
// A scan as a scanner would have written it: phantom -> frames, flats, darks, scan.toml, and truth.json, which knows
// what the scanner would not. docs/simulation.md explains every option.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/detector.h"
#include "simulate/project.h"
#include <lepus/compute.h>
#include <lepus/geometry.h>

namespace lepus {

struct PhantomChoice {
  std::string name = "shepp-logan-modified";  // one of builtin_phantom_names(), or a file: .toml, .pd, .stl
  double size_mm = 0;                         // diameter or edge of a built-in phantom; 0: 80 % of the field of view
  double value_per_mm = 0.02;  // of its material; Shepp-Logan: what a value of 1 is; FORBILD and .pd: water
  std::string material{};      // .stl: one of material_names() instead of the value
  // Porous block and beads; their sizes and values follow size_mm and value_per_mm.
  std::int64_t pores = 2000;
  double smallest_pore = 0.01, largest_pore = 0.04;  // radii as fractions of the block's edge
  bool overlap = false;
  int beads = 24;
  double bead_radius = 0.02, bead_contrast = 15;  // fraction of the cylinder's diameter; times its value
  bool two_rings = false;
};

struct MadePhantom {
  Phantom phantom;
  std::vector<Vec3> centres_mm;  // of pores or beads
  std::vector<double> radii_mm;
  std::optional<double> porosity;
  double porosity_uncertainty = 0;
};

std::vector<std::string> builtin_phantom_names();
// fitting_mm: the size where the choice gives none. Throws Error(usage) with the nearest name.
MadePhantom make_phantom(const PhantomChoice& choice, double fitting_mm, std::uint64_t seed);
// 80 % of the smaller of the field of view's diameter and the height that every view sees on the axis.
double fitting_size_mm(const ScanGeometry& geometry);

struct JitterOptions {     // one standard deviation each, from view to view
  double source_mm = 0;    // in u and v
  double detector_mm = 0;  // in u and v
  double in_plane_deg = 0;
  double angle_deg = 0;
  bool known = false;  // the scan file names them in a perturbations_file
};

enum class FrameFormat { automatic, tiff, raw };  // automatic: TIFF where lepus was built with it
enum class SimulatedContent { counts, line_integrals };

struct SimulationOptions {
  PhantomChoice phantom;
  CircularScan scan;  // as the scan file will say it; angles_rad gives the views
  ProjectOptions project{.subpixels = 2, .average = PixelAverage::intensity, .spot_diameter_mm = 0, .spot_samples = 12};
  DetectorOptions detector;
  JitterOptions jitter;
  double helix_pitch_mm = 0;   // source and detector move up by it in every turn
  double hidden_shift_px = 0;  // the detector is this much further along +u than the scan file says
  double tube_kv = 0;          // 0: one energy (materials at default_energy_kev); else a tungsten spectrum
  double filter_aluminium_mm = 2.5, filter_copper_mm = 0;
  std::filesystem::path spectrum_file;  // instead of tube_kv
  SimulatedContent content = SimulatedContent::counts;
  std::int64_t flats = 10, darks = 10;
  FrameFormat format = FrameFormat::automatic;
  std::string scanner;             // whose files to write (scanners/scanner_files.h); "": lepus' own
  std::optional<VolumeGrid> grid;  // for the truth and [volume]; none: automatic_grid
  bool write_truth = true;
  std::string truth_file = "truth.mha";
  int truth_samples = 3;  // per axis and voxel
  bool force = false;     // replace a simulated scan that is there
  // What traces rays through surfaces; where it cannot, and through all other phantoms, the host does.
  Compute compute{.backend = "cpu"};
};

struct SimulationReport {
  // scan_file: of a scanner's files their folder; truth_volume: empty where none was asked for
  std::filesystem::path scan_file, truth_volume, truth_json;
  std::int64_t views = 0, columns = 0, rows = 0;
  std::int64_t saturated_pixels = 0;  // over all views
  double largest_line_integral = 0;
  std::optional<double> porosity;
  std::string device;  // that traced the rays; empty: the host's threads
};

// Throws Error(usage) naming the option. simulate_scan calls it.
void check(const SimulationOptions& options);

// Writes into a folder beside `folder` and renames it at the end: after an error or an interruption nothing is left.
SimulationReport simulate_scan(const SimulationOptions& options, const std::filesystem::path& folder, Context& context);

}  // namespace lepus

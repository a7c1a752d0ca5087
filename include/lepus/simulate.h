// SPDX-License-Identifier: Apache-2.0
// A scan as a scanner would have written it: phantom -> frames, flats, darks, scan.toml, and truth.json, which knows
// what the scanner would not. docs/simulation.md explains every option.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/compute.h>
#include <lepus/export.h>
#include <lepus/geometry.h>

namespace lepus {

LEPUS_API std::vector<std::string> builtin_phantom_names();
LEPUS_API std::vector<std::string> material_names();        // "water", "bone", "aluminium", ...
LEPUS_API std::vector<std::string> scanner_writer_names();  // scanners whose files can be written: "nikon", ...

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

enum class PixelAverage {
  line_integral,  // mean of p: what most analytic simulators give
  intensity       // -ln of the mean of exp(-p): what a detector does
};

struct PixelRays {
  int subpixels = 1;  // n x n rays to each pixel
  PixelAverage average = PixelAverage::line_integral;
  double spot_diameter_mm = 0;  // a uniform disk across the central ray; needs source_detector_mm
  int spot_samples = 12;        // rays from it; used where the diameter is not zero
};

struct SimulatedDetector {
  double photons = 0;            // per pixel in the open beam; 0: no photon noise
  double open_level = 50000;     // grey levels that the open beam adds in a pixel of gain 1
  double offset_level = 100;     // grey levels without beam
  double gain_spread = 0;        // relative, one standard deviation from pixel to pixel, fixed for the scan
  double offset_spread = 0;      // grey levels, likewise
  double dark_current = 0;       // grey levels on average, with Poisson noise, in every frame
  double electronic_noise = 0;   // grey levels, one standard deviation, in every frame
  int bits = 16;                 // levels above 2^bits - 1 saturate
  std::int64_t hot_pixels = 0;   // always at the highest level
  std::int64_t dead_pixels = 0;  // see no beam
  std::int64_t dead_columns = 0;
  double beam_drift = 0;    // relative change of the beam from the first view to the last
  double beam_flicker = 0;  // relative, one standard deviation from view to view
  std::uint64_t seed = 1;   // of all random numbers, those of phantom and jitter too
};

struct ViewJitter {        // one standard deviation each, from view to view
  double source_mm = 0;    // in u and v
  double detector_mm = 0;  // in u and v
  double in_plane_deg = 0;
  double angle_deg = 0;
  bool known = false;  // the scan file names them in a perturbations_file
};

enum class FrameFormat { automatic, tiff, raw };  // automatic: TIFF where lepus was built with it
enum class SimulatedContent { counts, line_integrals };

struct SimulationOptions {
  PhantomChoice phantom = {};
  CircularScan scan = {};  // as the scan file will say it; angles_rad gives the views
  PixelRays rays{.subpixels = 2, .average = PixelAverage::intensity, .spot_diameter_mm = 0, .spot_samples = 12};
  SimulatedDetector detector = {};
  ViewJitter jitter = {};
  double helix_pitch_mm = 0;   // source and detector move up by it in every turn
  double hidden_shift_px = 0;  // the detector is this much further along +u than the scan file says
  double tube_kv = 0;          // 0: one energy, 60 keV where there are materials; else a tungsten spectrum
  double filter_aluminium_mm = 2.5, filter_copper_mm = 0;
  std::filesystem::path spectrum_file = {};  // instead of tube_kv
  SimulatedContent content = SimulatedContent::counts;
  std::int64_t flats = 10, darks = 10;
  FrameFormat format = FrameFormat::automatic;
  std::string scanner = {};             // whose files to write, one of scanner_writer_names(); "": lepus' own
  std::optional<VolumeGrid> grid = {};  // for the truth and [volume]; none: all that the scan sees
  bool write_truth = true;
  std::string truth_file = "truth.mha";
  int truth_samples = 3;  // per axis and voxel
  // What traces rays through surfaces; where it cannot, and through all other phantoms, the host's threads do.
  Compute compute = {};
  Call call = {};  // force: replace a simulated scan that is there
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

// Writes into a folder beside `folder` and renames it at the end: after an error or an interruption nothing is left.
// Throws Error(usage) naming the option that cannot be so.
LEPUS_API SimulationReport simulate_scan(const std::filesystem::path& folder, const SimulationOptions& options);

// What CircularScan::angles_rad takes: so many views that cover an arc in equal steps from the first angle on, ...
LEPUS_API std::vector<double> equal_angles_rad(std::int64_t views, double first_deg = 0, double arc_deg = 360);
// ... or the degrees that stand in a text file.
LEPUS_API std::vector<double> read_angles_rad(const std::filesystem::path& file);

// A grid in the middle of what the scan sees. size: voxels along x, y and z; none: as many as cover all of that.
// voxel_mm: edge of a voxel; none: pixel / magnification.
LEPUS_API VolumeGrid grid_of_scan(const CircularScan& scan, std::optional<std::array<std::int64_t, 3>> size = {},
                                  std::optional<double> voxel_mm = {});

}  // namespace lepus

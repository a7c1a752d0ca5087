// SPDX-License-Identifier: Apache-2.0
// What is in a volume: porosity, blobs, thickness; noise, resolution; how far it is from another volume and from a
// nominal surface. As numbers, and as a folder with a page, tables and volumes. docs/analysis.md has the formulas.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lepus/call.h>
#include <lepus/compute.h>
#include <lepus/export.h>

namespace lepus {

struct AnalyzeOptions {
  std::filesystem::path volume = {};  // in any format that lepus reads; it need not fit into memory
  std::filesystem::path output = {};  // the folder to write; "": numbers only

  // What is measured. None of all: porosity and blobs.
  bool porosity = false;   // the share of the phase: in all, open and closed, along z, in cells
  bool blobs = false;      // every connected blob of the phase
  bool thickness = false;  // of the phase and of the walls between; takes long
  bool noise = false;      // standard deviation, power spectrum, contrast-to-noise, where the sample is flattest ...
  std::vector<double> noise_box_mm = {};  // ... or in this box: x0, x1, y0, y1, z0, z1; empty: not
  bool resolution = false;               // edge and MTF of the largest bright thing, a cylinder that stands along z ...
  std::vector<double> cylinder_mm = {};  // ... or of this one, to a few voxels: x, y, radius; empty: not
  std::filesystem::path against = {};    // how far it is from this volume of the same grid; "": not
  bool register_them = false;            // of any grid: turned and shifted onto the first one before
  std::filesystem::path nominal = {};    // how far the surface of what is bright lies from this one (STL); "": not
  bool align = false;                    // turned and shifted onto it before
  std::optional<double> tolerance_mm = {};  // the share of the surface that lies within this, too

  // The phase. A threshold belongs to the darker side.
  std::string threshold = "otsu";  // "multi-otsu:3", "0.2,0.5", "local:RADIUS,OFFSET", "hysteresis:LOW,HIGH"
  std::string phase = "dark";      // "bright", or the number of a class, "0" being the darkest
  std::int64_t bins = 1024;        // of the histogram, where values are no small integers
  // "open:R", "close:R", "erode:R", "dilate:R" (balls), "open-box:R", ..., "fill-holes"
  std::vector<std::string> clean = {};
  // Runs `clean` with balls where it is a GPU; threads and memory of the host are those of `call`.
  Compute compute = {};

  // Where: all that is given here holds.
  std::vector<double> box_mm = {};       // x0, x1, y0, y1, z0, z1 of voxel centres, both ends included; empty: no box
  std::optional<double> radius_mm = {};  // distance from the rotation axis at most
  std::filesystem::path mask = {};       // where this volume of the same grid is not zero; "": everywhere
  bool remove_air = false;               // without what is dark and connected with a side of the volume
  bool remove_container = false;         // without the material that reaches furthest to the sides, and the air in it
  std::optional<double> seal = {};       // pores whose openings are narrower than twice this, in voxels, are no air

  // Blobs.
  int connectivity = 26;            // neighbours of a voxel: 6 faces, 18 with edges, 26 with corners
  std::optional<double> part = {};  // blobs that touch are parted where the neck's radius is less by so many voxels
  std::int64_t minimum_voxels = 1, maximum_voxels = 0;  // others are left out; 0: no limit
  bool closed = false;                                  // those that touch the border of the region are left out
  std::string sort = "volume";                          // "diameter", "surface", "sphericity", "mean", "label"

  // The folder.
  std::int64_t cell = 0;  // edge of a cell of the porosity map in voxels; 0: a sixteenth of the longest side
  bool labels = true;     // a volume of the blobs' labels
  std::vector<std::string> save = {};  // more volumes: "phase", "distance", "thickness", "registered"
  // An unfinished run of the same analysis is gone on with (docs/restart.md) where there is one; there must be one, or
  // it is begun anew:
  bool resume = false, restart = false;

  Call call = {};
};

struct AnalyzeReport {
  // What people want first, a line each: its name, "porosity", and what there is to say of it. The page begins with it.
  std::vector<std::pair<std::string, std::string>> summary;
  std::string json;            // all numbers; where there is an output the text of its analysis.json
  std::filesystem::path page;  // index.html of the output; "" where there is none
};

// Throws Error(input) where the threshold selects all voxels or none. Where it ends early, what was finished stays
// beside the output, and the same call goes on from there.
LEPUS_API AnalyzeReport analyze(const AnalyzeOptions& options);

}  // namespace lepus

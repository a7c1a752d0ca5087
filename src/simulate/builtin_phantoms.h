// SPDX-License-Identifier: Apache-2.0
// Phantoms that come with lepus. Lengths in mm, values in 1/mm; z is the rotation axis. docs/simulation.md shows each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/phantom.h"

namespace lepus {

enum class SheppLogan {
  kak_slaney,  // the ten ellipsoids of Kak and Slaney (1988), table 3.1: values 2, 1.02, 1.00 ...
  modified,    // the same ellipsoids with Toft's contrasts (1, 0.2, ...), which can be seen
  rtk          // RTK's SheppLoganPhantom; RTK turns about Y, its (X, Y, Z) is our (x, y, z) = (X, -Z, Y)
};
// scale_mm: what the unit of the table is (RTK's test: 116); value_per_mm: what a value of 1 is.
Phantom shepp_logan(SheppLogan kind, double scale_mm, double value_per_mm = 1.0);

// Seven flat ellipsoids, one above the other: the worst case for a circular orbit. They fill a ball of radius_mm.
Phantom defrise_disks(double radius_mm, double value_per_mm, int disks = 7);

Phantom uniform_ball(double radius_mm, double value_per_mm);

// FORBILD's head, 192 x 240 x 250 mm. Water gets water_per_mm.
Phantom forbild_head(bool ear, double water_per_mm);

struct PorousBlock {
  Vec3 size_mm{40, 40, 40};
  double value_per_mm = 0.02;
  std::int64_t pores = 2000;
  double smallest_radius_mm = 0.4, largest_radius_mm = 1.6;  // uniform between them
  bool overlap = false;
  std::uint64_t seed = 1;
};
struct PorousResult {
  Phantom phantom;
  double porosity = 0;     // pore volume / block volume
  double uncertainty = 0;  // standard error of porosity; 0: exact (pores that do not overlap)
  std::vector<Vec3> centres_mm;
  std::vector<double> radii_mm;
};
// Throws Error(usage) where that many pores do not fit.
PorousResult porous_block(const PorousBlock& options);

struct BeadPhantom {
  double radius_mm = 30, height_mm = 60;  // of the cylinder
  double value_per_mm = 0.02;
  double bead_radius_mm = 1.0, bead_value_per_mm = 0.3;
  int beads = 24;
  bool two_rings = false;  // else a helix of `turns`
  double turns = 2;
};
struct BeadResult {
  Phantom phantom;
  std::vector<Vec3> centres_mm;
};
BeadResult bead_phantom(const BeadPhantom& options);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// How much ring there is, measured without knowing the truth. Of a sinogram: rows minus their running median (what is
// wider than `radius` goes), then the median over the views: an edge of the object passes a column in few views and
// does not count. Of a slice: the same in polar coordinates about the axis.
#pragma once

#include <cstdint>
#include <vector>

#include "core/threads.h"
#include "project/planes.h"

namespace lepus {

// Stripes up to this many pixels wide count: 15 in rows of 1024 columns and more, the same share of shorter ones, at
// least 5. What is wider is part of the object, or shading.
std::int64_t ring_energy_radius(std::int64_t columns);

struct RingEnergy {
  double stripes = 0;  // mean square over columns of what stays the same in all views, squared unit of the values
  double flutter = 0;  // mean square of the noise that columns have beyond their neighbours'; for slices 0
  double total() const { return stripes + flutter; }
};

double decibels(double energy, double reference);  // 10 log10 of the ratio, -200 at least

// Mean over all sinograms, with the radius of their columns; one that does not fit the row is shortened.
RingEnergy ring_energy(const Planes& sinograms, ThreadPool& threads);
RingEnergy ring_energy(const Planes& sinograms, ThreadPool& threads, std::int64_t radius);

// Stripes of one sinogram, per column.
std::vector<double> column_stripes(const Planes& sinograms, std::int64_t plane, std::int64_t radius);

// The same; and which columns flutter more, or less, than their neighbours.
struct StripeProfile {
  std::vector<double> stripes, flutter;  // flutter: excess variance where unusual, else 0
  std::vector<bool> unusual;
};
StripeProfile stripe_profile(const Planes& sinograms, std::int64_t plane, std::int64_t radius);

// Rings about (centre_x, centre_y), in pixels, of a slice; out to the nearest edge.
double slice_ring_energy(const Planes& slice, double centre_x, double centre_y, std::int64_t radius = 15);

}  // namespace lepus

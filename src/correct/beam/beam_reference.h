// SPDX-License-Identifier: Apache-2.0
// The definitions in plain double precision: what drift, lag and hardening corrections must give, value by value.
// Sinograms are [view][column].
#pragma once

#include <cstdint>
#include <vector>

#include "project/beam_formulas.h"

namespace lepus {

// Every value of view v divided by divisors[v].
std::vector<double> scale_views_reference(const std::vector<float>& sinogram, std::int64_t columns,
                                          const std::vector<double>& divisors);

// What a detector with afterglow would measure, and the truth back from what it measured.
std::vector<double> add_lag_reference(const std::vector<double>& truth, std::int64_t columns, double fraction,
                                      double decay_frames, LagStart start);
std::vector<double> remove_lag_reference(const std::vector<double>& measured, std::int64_t columns, double fraction,
                                         double decay_frames, LagStart start);

// sum of c[k] p^(k + 1) in [0, limit], with its slope at the ends continued on both sides.
double linearise_reference(const std::vector<double>& c, double limit, double p);

}  // namespace lepus

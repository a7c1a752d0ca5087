// SPDX-License-Identifier: Apache-2.0
// What an iterative method is given: the map, what was measured, what is known of the volume, and the choices that are
// left to a user. docs/iterative.md says what they do.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "iterative/vectors.h"

namespace lepus {

enum class ViewOrder { sequential, random, distant };  // distant: each as far as can be from those before it

struct MethodOptions {
  std::string method = "sirt";  // method_names() has all
  std::int64_t iterations = 50;
  std::int64_t subsets = 1;
  ViewOrder order = ViewOrder::distant;
  std::uint64_t seed = 1;          // of the random order
  double relaxation = 1;           // the length of a step, of SIRT, SART and iterative FDK
  double strength = 0;             // of the regularisation, relative (regularisation_scale)
  double huber = 0;                // differences below it count squared; 1/mm
  double prior_share = 0.5;        // of the regularisation that is taken from the difference to a prior volume
  int total_variation_steps = 20;  // of the proximal map
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  // When to stop before `iterations`; 0: never.
  double residual = 0;  // |A x - b| / |b|
  double change = 0;    // |x - last x| / |x|
  double noise = 0;     // the root mean square of the noise of weighted line integrals: the discrepancy principle
};

// Vectors are the problem's own; methods read them.
struct Problem {
  LinearMap* map = nullptr;
  Vector data;                     // line integrals
  Vector weights;                  // of the line integrals, none below zero; empty: all one
  Vector start;                    // empty: zero (MLEM: one)
  Vector prior;                    // for total variation of the difference to it; empty: none
  Vector mask;                     // 0 where the volume is known to be empty, else 1; empty: nothing is known
  std::vector<double> angles_rad;  // of the views, for the order of subsets; empty: they follow each other evenly
  // Both where the map's vectors lie. A volume by FDK from line integrals, and the ramp filter along rows, in place,
  // scaled so that A' after it is about the inverse of A. Empty: not known for this map.
  std::function<void(const float* line_integrals, float* volume)> fdk;
  std::function<void(float* line_integrals)> ramp;
  // What may be taken of the device's memory for what could be computed again.
  std::int64_t spare_bytes = 0;
  std::int64_t negative_values = 0;  // of the line integrals, for methods that set them to zero

  std::vector<std::unique_ptr<LinearMap>> layers;  // weights and masks between `map` and the scan's own
};

struct MethodKind;

// A problem of this map without data; the mask is taken into the map.
Problem make_problem(LinearMap& map, const MethodKind& kind, std::span<const float> mask = {});
// One view from the host's memory; weights are empty in all views or in none. Methods that need it get the square roots
// of the weights into the map and the data.
void put_view(Problem& problem, const MethodKind& kind, std::int64_t view, std::span<const float> line_integrals,
              std::span<const float> weights = {});
// After the last view.
void finish_views(Problem& problem, const MethodKind& kind);
Vector volume_from(Problem& problem, std::span<const float> voxels);

}  // namespace lepus

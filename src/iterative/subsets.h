// SPDX-License-Identifier: Apache-2.0
// Ordered subsets: view v belongs to subset v modulo their number, so that each is spread over the whole orbit; sizes
// differ by one view where the number does not divide the views.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "iterative/problem.h"

namespace lepus {

// In which order to take subsets whose first views are seen at these angles. Random: another one in every pass, the
// same in every run. Distant: each as far as can be, modulo half a turn, from those before it (the smaller number where
// two are as far).
std::vector<std::int64_t> subset_order(ViewOrder order, const std::vector<double>& angles_rad, std::uint64_t seed,
                                       std::int64_t pass);

class Subsets {
public:
  Subsets(Problem& problem, std::int64_t count, ViewOrder order, std::uint64_t seed);

  std::int64_t count() const { return static_cast<std::int64_t>(parts_.size()); }
  std::vector<std::int64_t> order(std::int64_t pass) const { return subset_order(order_, angles_, seed_, pass); }
  LinearMap& map(std::int64_t subset) { return *part(subset).map; }

  // The subset's part of line integrals; valid until the next call for the same `kept`.
  const Vector& gather(const Vector& line_integrals, std::int64_t subset, Vector& kept);
  // A vector for a subset's line integrals; of the largest one's memory.
  Vector& work(std::int64_t subset, Vector& kept);

private:
  struct Part {
    std::vector<std::int64_t> views;
    std::unique_ptr<LinearMap> owned;
    LinearMap* map = nullptr;
  };
  Part& part(std::int64_t subset) { return parts_[static_cast<std::size_t>(subset)]; }

  LinearMap& whole_;
  std::vector<Part> parts_;
  std::vector<double> angles_;  // of the first view of each
  ViewOrder order_;
  std::uint64_t seed_;
};

// Volumes that belong to subsets and are computed when they are asked for: kept where the memory allows, else computed
// again each time, to the same bits.
class SubsetVolumes {
public:
  SubsetVolumes(Problem& problem, std::int64_t subsets)
      : problem_(problem),
        keeps_(subsets == 1 || subsets * problem.map->voxels() * 4 <= problem.spare_bytes),
        kept_(static_cast<std::size_t>(keeps_ ? subsets : 1)) {}

  template <class Compute>  // compute(Vector& volume)
  const Vector& get(std::int64_t subset, const Compute& compute) {
    Vector& volume = kept_[keeps_ ? static_cast<std::size_t>(subset) : 0];
    if (volume && keeps_) return volume;
    if (!volume) volume = Vector(*problem_.map, problem_.map->voxels());
    compute(volume);
    return volume;
  }

private:
  Problem& problem_;
  bool keeps_;
  std::vector<Vector> kept_;
};

}  // namespace lepus

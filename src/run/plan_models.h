// SPDX-License-Identifier: Apache-2.0
// What there is to choose from on a kind of machine, each with its memory and its time.
#pragma once

#include <memory>
#include <vector>

#include "run/float_bytes.h"
#include "run/plan.h"

namespace lepus {

class PlanModel {
public:
  virtual ~PlanModel() = default;
  // Plans of round 0, 1, ...; empty: no more rounds. A later round is asked for where nothing of those before it fits.
  virtual std::vector<Plan> candidates(int round) const = 0;
};

std::unique_ptr<PlanModel> model_of_host(const PlanRequest& request, const BandTable& bands);
std::unique_ptr<PlanModel> model_of_devices(const PlanRequest& request, const BandTable& bands);

std::vector<SlabRange> cut_into_slabs(std::int64_t slices, std::int64_t slab_slices);

// As the request limits it, cut at slab_alignment.
std::int64_t tallest_slab(const PlanRequest& request);

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace lepus

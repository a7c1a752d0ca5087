// SPDX-License-Identifier: Apache-2.0
// Phase retrieval (project/phase_plan.h) on the CPU, in place on the frames of a band.
#pragma once

#include <cstdint>
#include <memory>

#include "core/threads.h"
#include "project/phase_plan.h"
#include "project/planes.h"

namespace lepus {

std::int64_t phase_scratch_floats(const PhasePlan& plan, std::int64_t band_rows);  // per thread

class PhaseTransform {
public:
  explicit PhaseTransform(const PhasePlan& plan);
  ~PhaseTransform();
  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) const;

private:
  struct Plans;
  void filter_tile(float* reals, float* spectrum) const;

  const PhasePlan& plan_;
  std::unique_ptr<Plans> plans_;
};

}  // namespace lepus

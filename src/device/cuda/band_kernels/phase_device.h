// SPDX-License-Identifier: Apache-2.0
// Phase retrieval of a band in device memory: views in groups, their tiles transformed by cuFFT in batches of one fixed
// size, so that the same plan (and the same bits) serve every cut. cuFFT is looked for when it is needed.
#pragma once

#include <cstdint>
#include <memory>

#include "device/band_kernels.h"

namespace lepus::cuda {

class PhaseDevice {
public:
  PhaseDevice(const PhasePlan& plan, std::int64_t views);  // on the current device
  ~PhaseDevice();
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue);

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus::cuda

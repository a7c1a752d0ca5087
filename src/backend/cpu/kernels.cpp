// SPDX-License-Identifier: Apache-2.0
// The kernels by SIMD target.
#include "backend/cpu/targets.h"

#include "backend/cpu/kernel.h"
#include "hwy/targets.h"

namespace lepus::cpu {

Kernels best_kernels() { return {chosen_upright_kernel(), chosen_general_kernel()}; }

std::vector<Kernels> all_kernels() {
  std::vector<Kernels> all;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    all.push_back(best_kernels());
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return all;
}

}  // namespace lepus::cpu

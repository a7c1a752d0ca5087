// SPDX-License-Identifier: Apache-2.0
// The kernels by SIMD target.
#include "device/host/targets.h"

#include <algorithm>
#include <string_view>

#include "device/host/kernel.h"
#include "hwy/targets.h"

namespace lepus::cpu {

Kernels best_kernels() {
  static const Kernels best = all_kernels().front();
  return best;
}

std::vector<Kernels> all_kernels() {
  std::vector<Kernels> all;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    all.push_back({chosen_upright_kernel<Interpolation::nearest>(), chosen_upright_kernel<Interpolation::linear>(),
                   chosen_upright_kernel<Interpolation::cubic>(), chosen_general_kernel()});
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  // Every processor with SVE has NEON, whose kernels load the taps of a sample at once; those for SVE, where the
  // compiler does not know how long a vector is, gather them one by one.
  std::stable_partition(all.begin(), all.end(),
                        [](const Kernels& kernels) { return !std::string_view(kernels.target()).starts_with("SVE"); });
  return all;
}

}  // namespace lepus::cpu

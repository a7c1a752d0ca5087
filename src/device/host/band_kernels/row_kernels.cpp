// SPDX-License-Identifier: Apache-2.0
// The kernels of row_kernels-inl.h, compiled for every SIMD target that Highway knows here.
#include "device/host/band_kernels/row_kernels.h"

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/band_kernels/row_kernels.cpp"
#include "hwy/foreach_target.h"

#include "device/host/band_kernels/row_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::filters {
namespace HWY_NAMESPACE {

RowKernels best_row_kernels() {
  return {hwy::TargetName(HWY_TARGET), &weighted_sum, &bilateral, &move_counts, &nth_in_window};
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::filters
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::filters {

HWY_EXPORT(best_row_kernels);

const RowKernels& row_kernels() {
  static const RowKernels kernels = HWY_DYNAMIC_DISPATCH(best_row_kernels)();
  return kernels;
}

std::vector<RowKernels> all_row_kernels() {
  std::vector<RowKernels> all;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    all.push_back(HWY_DYNAMIC_DISPATCH(best_row_kernels)());
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return all;
}

}  // namespace lepus::filters
#endif

// SPDX-License-Identifier: Apache-2.0
// The kernel of upright-inl.h with one interpolation, compiled for every SIMD target that Highway knows here. A file of
// its own for each: together they compile for a minute. Set before: LEPUS_INTERPOLATION and HWY_TARGET_INCLUDE.
#include "device/host/kernel.h"

#include "device/host/targets.h"
#include "hwy/foreach_target.h"

#include "device/host/upright-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

static Kernel upright_kernel() { return {hwy::TargetName(HWY_TARGET), &upright<Interpolation::LEPUS_INTERPOLATION>}; }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::cpu {

HWY_EXPORT(upright_kernel);

template <>
Kernel chosen_upright_kernel<Interpolation::LEPUS_INTERPOLATION>() {
  return HWY_DYNAMIC_DISPATCH(upright_kernel)();
}

}  // namespace lepus::cpu
#endif

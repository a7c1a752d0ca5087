// SPDX-License-Identifier: Apache-2.0
// The kernel of general-inl.h, compiled for every SIMD target that Highway knows here.
#include "device/host/kernel.h"

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/general.cpp"
#include "hwy/foreach_target.h"

#include "device/host/general-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

Kernel general_kernel() { return {hwy::TargetName(HWY_TARGET), &general}; }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::cpu {

HWY_EXPORT(general_kernel);

Kernel chosen_general_kernel() { return HWY_DYNAMIC_DISPATCH(general_kernel)(); }

}  // namespace lepus::cpu
#endif

// SPDX-License-Identifier: Apache-2.0
// The kernel of upright-inl.h, compiled for every SIMD target that Highway knows here.
#include "device/host/kernel.h"

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/upright.cpp"
#include "hwy/foreach_target.h"

#include "device/host/upright-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

Kernel upright_kernel() { return {hwy::TargetName(HWY_TARGET), &upright}; }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::cpu {

HWY_EXPORT(upright_kernel);

Kernel chosen_upright_kernel() { return HWY_DYNAMIC_DISPATCH(upright_kernel)(); }

}  // namespace lepus::cpu
#endif

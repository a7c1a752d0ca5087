// SPDX-License-Identifier: Apache-2.0
#define LEPUS_INTERPOLATION nearest
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/upright_nearest.cpp"
#include "device/host/upright_kernel-inl.h"

// SPDX-License-Identifier: Apache-2.0
#define LEPUS_INTERPOLATION cubic
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/upright_cubic.cpp"
#include "device/host/upright_kernel-inl.h"

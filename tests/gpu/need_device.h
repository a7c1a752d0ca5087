// SPDX-License-Identifier: Apache-2.0
// For tests that need a GPU: where none can be used they say so, and why, and are skipped.
#pragma once

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "device/cuda/devices.h"

#define NEED_DEVICE()                                                                                \
  if (const std::string why = lepus::cuda::why_unusable(); !why.empty()) {                           \
    std::printf("*** SKIPPED: no GPU can be used here (%s); nothing was tested ***\n", why.c_str()); \
    GTEST_SKIP() << why;                                                                             \
  }

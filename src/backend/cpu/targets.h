// SPDX-License-Identifier: Apache-2.0
// Which SIMD targets the kernels are compiled for. Include before any of Highway.
// A machine without SSE4 is older than anything we meet: the step below it would only cost time to compile.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif

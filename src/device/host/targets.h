// SPDX-License-Identifier: Apache-2.0
// Which SIMD targets the kernels are compiled for. Include before any of Highway.
// A machine without SSE4 is older than anything we meet, and nothing here uses what SVE2 adds to SVE, or gains by
// vectors whose length the compiler knows: these steps would only cost time to compile. A build for one machine has
// others that it leaves out (cmake/lepus_this_machine.cmake).
#pragma once

#ifndef LEPUS_OTHER_VECTORS
#define LEPUS_OTHER_VECTORS 0
#endif
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | LEPUS_OTHER_VECTORS)
#endif

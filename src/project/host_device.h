// SPDX-License-Identifier: Apache-2.0
// LEPUS_HD marks a function that the host's compiler and a device's compiler both translate.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define LEPUS_HD __host__ __device__
#else
#define LEPUS_HD
#endif

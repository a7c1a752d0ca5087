// SPDX-License-Identifier: Apache-2.0
// lepus::format: std::format where the compiler has it, the fmt library where it does not (g++ 12). Only declarations
// are included: nearly every file formats an error, and fmt's code, linked in from its library, takes 5 s to compile.
#pragma once

#include <version>

#ifdef __cpp_lib_format
#include <format>
namespace lepus {
using std::format;
}
#else
#include <fmt/core.h>
namespace lepus {
using fmt::format;
}
#endif

// SPDX-License-Identifier: Apache-2.0
// lepus::format: std::format where the compiler has it, the fmt library where it does not (g++ 12).
#pragma once

#include <version>

#ifdef __cpp_lib_format
#include <format>
namespace lepus {
using std::format;
}
#else
#include <fmt/format.h>
namespace lepus {
using fmt::format;
}
#endif

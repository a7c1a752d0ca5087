// SPDX-License-Identifier: Apache-2.0
// The kernels' text: CMake puts kernels/*.cl into the library.
#pragma once

#include <string_view>

namespace lepus::opencl {

// "backproject": kernels/backproject.cl. Every program is "common" followed by one of the others. Throws
// Error(internal) for a name that is not there.
std::string_view kernel_text(std::string_view name);

}  // namespace lepus::opencl

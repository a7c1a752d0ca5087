// SPDX-License-Identifier: Apache-2.0
// What OpenCL answers, as lepus::Error: with the error's name, and with what to do where a device was lost.
#pragma once

#include <cstdint>
#include <string>

#include "device/opencl/opencl_library.h"

namespace lepus::opencl {

std::string error_name(cl_int status);  // "CL_OUT_OF_RESOURCES"; unknown ones by their number

// `doing` completes "cannot ..."; `device` is its name. Error(memory) for what did not fit, of `bytes` where they are
// known; Error(internal) for the rest.
void check(cl_int status, const std::string& device, const std::string& doing, std::int64_t bytes = 0);

}  // namespace lepus::opencl

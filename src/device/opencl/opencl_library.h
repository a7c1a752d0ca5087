// SPDX-License-Identifier: Apache-2.0
// OpenCL's functions, taken at run time from the ICD loader (libOpenCL.so.1): lepus is not linked with it and starts
// where there is none. The table is a plain value, so that a test can hand out one whose functions fail.
#pragma once

#include <string>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue: the one that devices of every version have
#include <CL/cl.h>

namespace lepus::opencl {

// Every function that lepus calls; all are part of OpenCL 1.2.
// clang-format off
#define LEPUS_OPENCL_FUNCTIONS(F) \
  F(GetPlatformIDs) F(GetPlatformInfo) F(GetDeviceIDs) F(GetDeviceInfo) F(CreateContext) F(ReleaseContext) \
  F(GetSupportedImageFormats) F(CreateCommandQueue) F(ReleaseCommandQueue) F(Flush) F(Finish) \
  F(CreateBuffer) F(CreateImage) F(ReleaseMemObject) F(CreateProgramWithSource) F(BuildProgram) \
  F(GetProgramBuildInfo) F(ReleaseProgram) F(CreateKernel) F(SetKernelArg) F(ReleaseKernel) \
  F(EnqueueNDRangeKernel) F(EnqueueReadBuffer) F(EnqueueWriteBuffer) F(EnqueueCopyBuffer) \
  F(EnqueueFillBuffer) F(EnqueueFillImage) F(EnqueueMapBuffer) F(EnqueueUnmapMemObject) \
  F(EnqueueMarkerWithWaitList) F(EnqueueBarrierWithWaitList) F(WaitForEvents) F(ReleaseEvent) F(GetEventProfilingInfo)
// clang-format on

struct Library {
#define LEPUS_OPENCL_POINTER(name) decltype(&::cl##name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  LEPUS_OPENCL_FUNCTIONS(LEPUS_OPENCL_POINTER)
#undef LEPUS_OPENCL_POINTER
};

// Opened once in the process. Null where there is none: library_failure() says why.
const Library* library();
const std::string& library_failure();

}  // namespace lepus::opencl

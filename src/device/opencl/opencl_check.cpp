// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_check.h"

#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

constexpr cl_int no_platform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR, of the loader

constexpr std::pair<cl_int, const char*> names[] = {
#define LEPUS_NAMED(code) \
  { code, #code }
    LEPUS_NAMED(CL_DEVICE_NOT_FOUND),
    LEPUS_NAMED(CL_DEVICE_NOT_AVAILABLE),
    LEPUS_NAMED(CL_COMPILER_NOT_AVAILABLE),
    LEPUS_NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    LEPUS_NAMED(CL_OUT_OF_RESOURCES),
    LEPUS_NAMED(CL_OUT_OF_HOST_MEMORY),
    LEPUS_NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
    LEPUS_NAMED(CL_MEM_COPY_OVERLAP),
    LEPUS_NAMED(CL_IMAGE_FORMAT_MISMATCH),
    LEPUS_NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    LEPUS_NAMED(CL_BUILD_PROGRAM_FAILURE),
    LEPUS_NAMED(CL_MAP_FAILURE),
    LEPUS_NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    LEPUS_NAMED(CL_INVALID_VALUE),
    LEPUS_NAMED(CL_INVALID_DEVICE_TYPE),
    LEPUS_NAMED(CL_INVALID_PLATFORM),
    LEPUS_NAMED(CL_INVALID_DEVICE),
    LEPUS_NAMED(CL_INVALID_CONTEXT),
    LEPUS_NAMED(CL_INVALID_QUEUE_PROPERTIES),
    LEPUS_NAMED(CL_INVALID_COMMAND_QUEUE),
    LEPUS_NAMED(CL_INVALID_HOST_PTR),
    LEPUS_NAMED(CL_INVALID_MEM_OBJECT),
    LEPUS_NAMED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    LEPUS_NAMED(CL_INVALID_IMAGE_SIZE),
    LEPUS_NAMED(CL_INVALID_SAMPLER),
    LEPUS_NAMED(CL_INVALID_BINARY),
    LEPUS_NAMED(CL_INVALID_BUILD_OPTIONS),
    LEPUS_NAMED(CL_INVALID_PROGRAM),
    LEPUS_NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
    LEPUS_NAMED(CL_INVALID_KERNEL_NAME),
    LEPUS_NAMED(CL_INVALID_KERNEL),
    LEPUS_NAMED(CL_INVALID_ARG_INDEX),
    LEPUS_NAMED(CL_INVALID_ARG_VALUE),
    LEPUS_NAMED(CL_INVALID_ARG_SIZE),
    LEPUS_NAMED(CL_INVALID_KERNEL_ARGS),
    LEPUS_NAMED(CL_INVALID_WORK_DIMENSION),
    LEPUS_NAMED(CL_INVALID_WORK_GROUP_SIZE),
    LEPUS_NAMED(CL_INVALID_WORK_ITEM_SIZE),
    LEPUS_NAMED(CL_INVALID_GLOBAL_OFFSET),
    LEPUS_NAMED(CL_INVALID_EVENT_WAIT_LIST),
    LEPUS_NAMED(CL_INVALID_EVENT),
    LEPUS_NAMED(CL_INVALID_OPERATION),
    LEPUS_NAMED(CL_INVALID_BUFFER_SIZE),
    LEPUS_NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
#undef LEPUS_NAMED
    {no_platform, "CL_PLATFORM_NOT_FOUND_KHR"},
};

// What drivers answer to every call after a kernel faulted, a card fell off its bus or a driver was restarted.
bool is_lost(cl_int status) {
  return status == CL_DEVICE_NOT_AVAILABLE || status == CL_INVALID_COMMAND_QUEUE || status == CL_INVALID_CONTEXT ||
         status == CL_OUT_OF_RESOURCES || status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

bool is_memory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY ||
         status == CL_INVALID_BUFFER_SIZE || status == CL_INVALID_IMAGE_SIZE;
}

}  // namespace

std::string error_name(cl_int status) {
  for (const auto& [code, name] : names)
    if (code == status) return name;
  return format("OpenCL error {}", status);
}

void check(cl_int status, const std::string& device, const std::string& doing, std::int64_t bytes) {
  if (status == CL_SUCCESS) return;
  // A kernel that runs out of resources was lost; an allocation that does simply did not fit.
  if (is_memory(status) || (bytes > 0 && status == CL_OUT_OF_RESOURCES))
    throw Error(ErrorKind::memory, {.what = "cannot " + doing,
                                    .where = device,
                                    .why = (bytes > 0 ? format_bytes(bytes) + " asked for, " : "") + error_name(status),
                                    .hint = "give less device memory, or end other programs that use the device"});
  if (is_lost(status))
    throw Error(ErrorKind::internal,
                {.what = "the OpenCL device was lost: cannot " + doing,
                 .where = device,
                 .why = error_name(status),
                 .hint = "run again, with --backend cpu if it happens again; clinfo says whether it is still there"});
  throw Error(ErrorKind::internal, {.what = "cannot " + doing, .where = device, .why = error_name(status), .hint = {}});
}

}  // namespace lepus::opencl

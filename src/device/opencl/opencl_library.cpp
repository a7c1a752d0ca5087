// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_library.h"

#include <dlfcn.h>

namespace lepus::opencl {
namespace {

struct OpenedLibrary {
  Library functions;
  std::string failure;

  OpenedLibrary() {
    // Never closed: drivers leave threads behind that run in it until the process ends.
    void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (loader == nullptr) {
      failure = "no OpenCL loader is installed (libOpenCL.so.1, for example from the package ocl-icd-libopencl1)";
      return;
    }
    const auto take = [&](auto& pointer, const char* name) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(loader, name));
      if (pointer == nullptr && failure.empty())
        failure = std::string("the OpenCL loader is older than 1.2: it lacks ") + name;
    };
#define LEPUS_OPENCL_TAKE(name) take(functions.name, "cl" #name);
    LEPUS_OPENCL_FUNCTIONS(LEPUS_OPENCL_TAKE)
#undef LEPUS_OPENCL_TAKE
  }
};

const OpenedLibrary& opened() {
  static const OpenedLibrary once;
  return once;
}

}  // namespace

const Library* library() { return opened().failure.empty() ? &opened().functions : nullptr; }
const std::string& library_failure() { return opened().failure; }

}  // namespace lepus::opencl

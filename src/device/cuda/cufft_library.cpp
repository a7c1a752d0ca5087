// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cufft_library.h"

#include <string>

#include <dlfcn.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

template <class Function>
void find(void* handle, const std::string& name, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  if (!function)
    throw Error(ErrorKind::unsupported, {.what = format("cuFFT has no function {}", symbol),
                                         .where = name,
                                         .why = {},
                                         .hint = "install the cuFFT that belongs to this build's CUDA"});
}

CufftLibrary open_cufft() {
  const std::string name = format("libcufft.so.{}", CUFFT_VER_MAJOR);
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open for the life of the process
  if (!handle)
    throw Error(ErrorKind::unsupported, {.what = "phase retrieval and very long rows need cuFFT on the device",
                                         .where = name,
                                         .why = dlerror(),
                                         .hint = "install CUDA's cuFFT, or reconstruct with --backend cpu"});
  CufftLibrary library;
  find(handle, name, "cufftPlanMany", library.plan_many);
  find(handle, name, "cufftSetStream", library.set_stream);
  find(handle, name, "cufftExecR2C", library.there);
  find(handle, name, "cufftExecC2R", library.back);
  find(handle, name, "cufftDestroy", library.destroy);
  return library;
}

}  // namespace

const CufftLibrary& cufft_library() {
  static const CufftLibrary only = open_cufft();
  return only;
}

void check_cufft(cufftResult result, const char* doing) {
  if (result == CUFFT_SUCCESS) return;
  throw Error(result == CUFFT_ALLOC_FAILED ? ErrorKind::memory : ErrorKind::internal,
              {.what = format("cuFFT cannot {}", doing),
               .where = "device",
               .why = format("error {}", static_cast<int>(result)),
               .hint = {}});
}

CufftPlans::~CufftPlans() {
  if (has_forward) cufft_library().destroy(forward);
  if (has_backward) cufft_library().destroy(backward);
}

}  // namespace lepus::cuda

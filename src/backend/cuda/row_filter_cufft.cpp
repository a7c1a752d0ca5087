// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/row_filter_cufft.h"

#include <string>

#include <cufft.h>
#include <dlfcn.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

struct Library {
  decltype(&cufftPlanMany) plan_many = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecR2C) there = nullptr;
  decltype(&cufftExecC2R) back = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;

  Library() {
    const std::string name = format("libcufft.so.{}", CUFFT_VER_MAJOR);
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open for the life of the process
    if (!handle)
      throw Error(ErrorKind::unsupported, {.what = "rows this long need cuFFT on the device",
                                           .where = name,
                                           .why = dlerror(),
                                           .hint = "install CUDA's cuFFT, or reconstruct with --backend cpu"});
    find(handle, name, "cufftPlanMany", plan_many);
    find(handle, name, "cufftSetStream", set_stream);
    find(handle, name, "cufftExecR2C", there);
    find(handle, name, "cufftExecC2R", back);
    find(handle, name, "cufftDestroy", destroy);
  }

private:
  template <class Function>
  static void find(void* handle, const std::string& name, const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, symbol));
    if (!function)
      throw Error(ErrorKind::unsupported, {.what = format("cuFFT has no function {}", symbol),
                                           .where = name,
                                           .why = {},
                                           .hint = "install the cuFFT that belongs to this build's CUDA"});
  }
};

const Library& library() {
  static const Library only;
  return only;
}

void check(cufftResult result, const char* doing) {
  if (result == CUFFT_SUCCESS) return;
  throw Error(result == CUFFT_ALLOC_FAILED ? ErrorKind::memory : ErrorKind::internal,
              {.what = format("cuFFT cannot {}", doing),
               .where = "device",
               .why = format("error {}", static_cast<int>(result)),
               .hint = {}});
}

}  // namespace

struct RowTransforms::Plans {
  cufftHandle forward = 0, backward = 0;
  bool has_forward = false, has_backward = false;
  ~Plans() {
    if (has_forward) library().destroy(forward);
    if (has_backward) library().destroy(backward);
  }
};

RowTransforms::RowTransforms(std::int64_t length, std::int64_t rows) : plans_(std::make_unique<Plans>()) {
  int n = static_cast<int>(length), reals = n + 2, frequencies = n / 2 + 1;
  const int batch = static_cast<int>(rows);
  check(library().plan_many(&plans_->forward, 1, &n, &reals, 1, reals, &frequencies, 1, frequencies, CUFFT_R2C, batch),
        "plan a transform");
  plans_->has_forward = true;
  check(library().plan_many(&plans_->backward, 1, &n, &frequencies, 1, frequencies, &reals, 1, reals, CUFFT_C2R, batch),
        "plan a transform");
  plans_->has_backward = true;
}

RowTransforms::~RowTransforms() = default;

void RowTransforms::there(cudaStream_t stream, float* lines) {
  check(library().set_stream(plans_->forward, stream), "use a stream");
  check(library().there(plans_->forward, lines, reinterpret_cast<cufftComplex*>(lines)), "transform rows");
}

void RowTransforms::back(cudaStream_t stream, float* lines) {
  check(library().set_stream(plans_->backward, stream), "use a stream");
  check(library().back(plans_->backward, reinterpret_cast<cufftComplex*>(lines), lines), "transform rows back");
}

}  // namespace lepus::cuda

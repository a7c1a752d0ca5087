// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/frame_transforms.h"

#include <string>

#include <cufft.h>
#include <dlfcn.h>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus::cuda {
namespace {

struct FrameLibrary {
  decltype(&cufftPlanMany) plan_many = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecR2C) there = nullptr;
  decltype(&cufftExecC2R) back = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;

  FrameLibrary() {
    const std::string name = format("libcufft.so.{}", CUFFT_VER_MAJOR);
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open for the life of the process
    if (!handle)
      throw Error(ErrorKind::unsupported, {.what = "phase retrieval needs cuFFT on the device",
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

const FrameLibrary& frame_library() {
  static const FrameLibrary only;
  return only;
}

void check_frames(cufftResult result, const char* doing) {
  if (result == CUFFT_SUCCESS) return;
  throw Error(result == CUFFT_ALLOC_FAILED ? ErrorKind::memory : ErrorKind::internal,
              {.what = format("cuFFT cannot {}", doing),
               .where = "device",
               .why = format("error {}", static_cast<int>(result)),
               .hint = {}});
}

}  // namespace

struct FrameTransforms::Plans {
  cufftHandle forward = 0, backward = 0;
  bool has_forward = false, has_backward = false;
  ~Plans() {
    if (has_forward) frame_library().destroy(forward);
    if (has_backward) frame_library().destroy(backward);
  }
};

FrameTransforms::FrameTransforms(std::int64_t height, std::int64_t width, std::int64_t frames)
    : plans_(std::make_unique<Plans>()) {
  const int rows = static_cast<int>(height), half = static_cast<int>(width / 2 + 1), batch = static_cast<int>(frames);
  int size[2] = {rows, static_cast<int>(width)}, reals[2] = {rows, 2 * half}, frequencies[2] = {rows, half};
  check_frames(frame_library().plan_many(&plans_->forward, 2, size, reals, 1, rows * 2 * half, frequencies, 1,
                                         rows * half, CUFFT_R2C, batch),
               "plan a transform of frames");
  plans_->has_forward = true;
  check_frames(frame_library().plan_many(&plans_->backward, 2, size, frequencies, 1, rows * half, reals, 1,
                                         rows * 2 * half, CUFFT_C2R, batch),
               "plan a transform of frames");
  plans_->has_backward = true;
}

FrameTransforms::~FrameTransforms() = default;

void FrameTransforms::there(cudaStream_t stream, float* frames) {
  check_frames(frame_library().set_stream(plans_->forward, stream), "use a stream");
  check_frames(frame_library().there(plans_->forward, frames, reinterpret_cast<cufftComplex*>(frames)),
               "transform frames");
}

void FrameTransforms::back(cudaStream_t stream, float* frames) {
  check_frames(frame_library().set_stream(plans_->backward, stream), "use a stream");
  check_frames(frame_library().back(plans_->backward, reinterpret_cast<cufftComplex*>(frames), frames),
               "transform frames back");
}

}  // namespace lepus::cuda

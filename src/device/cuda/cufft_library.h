// SPDX-License-Identifier: Apache-2.0
// cuFFT, opened when it is first needed, so that a program that does not need it starts where it is missing; and a pair
// of its plans, there and back.
#pragma once

#include <cufft.h>

namespace lepus::cuda {

struct CufftLibrary {
  decltype(&cufftPlanMany) plan_many = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecR2C) there = nullptr;
  decltype(&cufftExecC2R) back = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
};

// Throws Error(unsupported) where cuFFT is not installed.
const CufftLibrary& cufft_library();

// Throws where `result` is not success. `doing` completes "cuFFT cannot ...".
void check_cufft(cufftResult result, const char* doing);

struct CufftPlans {
  cufftHandle forward = 0, backward = 0;
  bool has_forward = false, has_backward = false;
  CufftPlans() = default;
  ~CufftPlans();
  CufftPlans(const CufftPlans&) = delete;
  CufftPlans& operator=(const CufftPlans&) = delete;
};

}  // namespace lepus::cuda

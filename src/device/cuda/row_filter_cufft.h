// SPDX-License-Identifier: Apache-2.0
// Real transforms of many rows by cuFFT, for rows that do not fit shared memory. The library is looked for when it is
// needed, so that lepus starts (and filters ordinary detectors) without it.
#pragma once

#include <cstdint>
#include <memory>

#include <cuda_runtime_api.h>

#include "device/cuda/row_filter_fft.h"

namespace lepus::cuda {

class RowTransforms {
public:
  // `rows` rows of `length` floats, each followed by two unused ones: length / 2 + 1 complex numbers, in place.
  RowTransforms(std::int64_t length, std::int64_t rows);
  ~RowTransforms();
  void there(cudaStream_t stream, float* lines);
  void back(cudaStream_t stream, float* lines);  // not divided by the length

private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace lepus::cuda

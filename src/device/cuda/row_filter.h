// SPDX-License-Identifier: Apache-2.0
// Frames on the device to filtered rows on the device, in one kernel: raw pixels [view][row][column] of any type ->
// line integrals (dark, flat, log; dead pixels bridged) -> FDK weights -> ramp filter -> float [view][row][wide
// column]. Two neighbouring rows are one complex row: the ramp's response is real, so they come out apart again. The
// transforms stay in shared memory (row_filter_fft.h); rows too long for that go through cuFFT.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <cuda_runtime_api.h>

#include "io/frames.h"
#include "device/row_tables.h"

namespace lepus::cuda {

using RowFilterSetup = RowTables;

class RowFilter {
public:
  // The shortest transform of at least that length that is fast on the current device.
  static std::int64_t transform_length(std::int64_t shortest);

  explicit RowFilter(const RowFilterSetup& setup);  // on the current device
  ~RowFilter();
  RowFilter(RowFilter&&) noexcept;
  RowFilter& operator=(RowFilter&&) noexcept;

  // Returns at once; the work is in the stream. One stream at a time where the rows are long (uses_cufft).
  void filter(cudaStream_t stream, const RowBatch& batch);
  // Bad pixels so far of views [first, first + bad.size()), after all work in the stream.
  void bad_pixels(cudaStream_t stream, std::int64_t first, std::span<BadPixels> bad) const;
  bool uses_cufft() const;
  std::int64_t device_bytes() const;  // what it holds

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus::cuda

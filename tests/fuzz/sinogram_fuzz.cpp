// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry for fuzz::sinogram.
#include "fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lepus::fuzz::sinogram(data, size);
  return 0;
}

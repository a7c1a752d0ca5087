// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry for fuzz::hdf5.
#include "fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lepus::fuzz::hdf5(data, size);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry for fuzz::arrays.
#include "fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lepus::fuzz::arrays(data, size);
  return 0;
}

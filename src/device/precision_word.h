// SPDX-License-Identifier: Apache-2.0
// The words of `--precision`.
#pragma once

#include <lepus/options.h>

namespace lepus {

constexpr const char* precision_word(Precision precision) {
  return precision == Precision::exact ? "exact" : precision == Precision::fast ? "fast" : "half";
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// A field of a scanner's header, and what lepus makes of it.
#pragma once

#include <string>

namespace lepus {

struct HeaderField {
  std::string name, value;  // as written, in UTF-8
  std::string use;          // "geometry.source_axis_mm"; "" where it is only shown
};

}  // namespace lepus

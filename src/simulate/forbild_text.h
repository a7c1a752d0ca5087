// SPDX-License-Identifier: Apache-2.0
// The text of share/phantoms/forbild_head*.pd, put into the library when it is built.
#pragma once

#include <string_view>

namespace lepus {

extern const std::string_view forbild_head_text;
extern const std::string_view forbild_head_no_ear_text;

}  // namespace lepus

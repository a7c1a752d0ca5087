// SPDX-License-Identifier: Apache-2.0
// Words for messages: what to do about the system's refusals.
#pragma once

#include <string>

#include <lepus/text.h>

namespace lepus {

// What helps where the system could not open, make or write a file (errno); `usual` where its reason says no more.
std::string hint_for_errno(int code, const std::string& usual);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The program as one of several processes (ranks/ranks.h).
#pragma once

#include <lepus/error.h>
#include <lepus/ranks.h>

namespace lepus::app {

// The first rank that fails says so, with its name, and ends all of them with its exit code; others wait for that.
[[noreturn]] void fail_together(Ranks& ranks, const Error& error, bool json);

}  // namespace lepus::app

// SPDX-License-Identifier: Apache-2.0
// What the module liblepus_mpi.so has to offer.
#pragma once

#include <string>

#include <lepus/ranks.h>

namespace lepus {

// By this name: null where it cannot, with the reason in `why`.
using OpenRanks = Ranks*(const char* version, std::string& why);
inline constexpr const char* open_ranks_symbol = "lepus_open_ranks";

}  // namespace lepus

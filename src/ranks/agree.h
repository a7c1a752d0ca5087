// SPDX-License-Identifier: Apache-2.0
// What all ranks must have alike before they write into one output.
#pragma once

#include <string>
#include <vector>

#include "ranks/ranks.h"

namespace lepus {

struct RankFact {
  std::string name, value;  // "the scan file", its checksum: in words of messages
};

// By all ranks. Throws Error(usage), on every rank, that names the first rank that differs from rank 0, and in what.
void require_same(Ranks& ranks, const std::vector<RankFact>& facts);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// What all ranks must have alike before they write into one output, and numbers that they tell each other.
#pragma once

#include <string>
#include <vector>

#include <lepus/ranks.h>

namespace lepus {

struct RankFact {
  std::string name, value;  // "the scan file", its checksum: in words of messages
};

// By all ranks. Throws Error(usage), on every rank, that names the first rank that differs from rank 0, and in what.
void require_same(Ranks& ranks, const std::vector<RankFact>& facts);

// By all ranks: the number that each of them has, by rank.
std::vector<double> numbers_of_all(Ranks& ranks, double mine);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// The vectors of a method's state in the host's memory, piece by piece, in the order of their names. Where ranks share
// out line integrals rank 0 has the parts of all in the order of the ranks: the others send them, or are sent them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "iterative/method.h"
#include <lepus/ranks.h>

namespace lepus {

class KeptPieces {
public:
  // By all ranks, as what follows.
  explicit KeptPieces(Method& method);

  bool first() const { return !ranks_ || ranks_->first(); }
  Ranks* ranks() const { return ranks_; }            // null: one process
  std::int64_t size(const std::string& name) const;  // of a vector, on all ranks together
  std::vector<std::int64_t> counts() const;          // of all pieces

  // take(values, count) of every piece, on rank 0 alone. Where it throws, the others' pieces are received all the same,
  // so that they go on, and then it is thrown.
  void collect(const std::function<void(const float*, std::int64_t)>& take);
  // give(values, count) of every piece, on rank 0 alone.
  void distribute(const std::function<void(float*, std::int64_t)>& give);

private:
  // body(values of this rank or null, count, the rank whose they are or every_rank)
  void each(const std::function<void(float*, std::int64_t, int)>& body);

  Method& method_;
  Ranks* ranks_;
  std::map<std::string, std::vector<std::int64_t>> sizes_;  // of the parts by rank, one where all have the same
  std::vector<float> piece_;
};

}  // namespace lepus

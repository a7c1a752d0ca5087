// SPDX-License-Identifier: Apache-2.0
#include "ranks/agree.h"

#include <cstring>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr char between = '\x1f';  // no text that people write has it

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0, end = 0; (end = text.find(between, at)) != std::string::npos; at = end + 1)
    parts.push_back(text.substr(at, end - at));
  return parts;
}

}  // namespace

void require_same(Ranks& ranks, const std::vector<RankFact>& facts) {
  if (ranks.alone()) return;
  std::string mine = ranks.node() + between;
  for (const RankFact& fact : facts) mine += fact.value + between;
  const std::vector<std::string> all = ranks.gather(mine);
  const std::vector<std::string> first = parts_of(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::vector<std::string> other = parts_of(all[rank]);
    for (std::size_t i = 0; i < facts.size(); ++i)
      if (other.at(i + 1) != first.at(i + 1))
        throw Error(ErrorKind::usage,
                    {.what = format("{} is not the same on all ranks", facts[i].name),
                     .where = format("rank {} on {}", rank, other.front()),
                     .why = format("it has {}, rank 0 on {} has {}", other[i + 1], first.front(), first[i + 1]),
                     .hint = "start all ranks with one command, from files that all nodes see"});
  }
}

std::vector<double> numbers_of_all(Ranks& ranks, double mine) {
  std::string bytes(sizeof mine, '\0');
  std::memcpy(bytes.data(), &mine, sizeof mine);
  std::vector<double> numbers;
  for (const std::string& text : ranks.gather(bytes)) std::memcpy(&numbers.emplace_back(), text.data(), sizeof mine);
  return numbers;
}

}  // namespace lepus

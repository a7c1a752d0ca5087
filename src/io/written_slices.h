// SPDX-License-Identifier: Apache-2.0
// Which slices of a volume were written, so that none is written twice and none is forgotten. Any thread may call.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace lepus {

class WrittenSlices {
public:
  WrittenSlices(std::int64_t slices, std::string where);

  // Around the writing of [z0, z1). Throws Error(internal) where one of them is outside or was begun before; then none
  // is begun.
  void begin(std::int64_t z0, std::int64_t z1);
  void end(std::int64_t z0, std::int64_t z1);
  void give_back(std::int64_t z0, std::int64_t z1);  // instead of end(): they may be begun again
  // Slices that somebody else wrote; those that are there already stay. Error(internal) for what is outside or begun.
  void add(std::int64_t z0, std::int64_t z1);

  // Throws Error(internal) that names the slices that were not written to their end.
  void check_complete() const;

private:
  enum class Slice : char { missing, begun, written };
  void require_inside(std::int64_t z0, std::int64_t z1) const;

  mutable std::mutex mutex_;
  std::vector<Slice> slices_;
  std::string where_;
};

}  // namespace lepus

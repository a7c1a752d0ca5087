// SPDX-License-Identifier: Apache-2.0
// Numbers that a call is given: what can be no answer to its question is refused before any work. Everything throws
// Error(usage), whose place is where the number was given: "option --threads".
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace lepus {

void check_threads(int threads);                                    // 0 (one per hardware thread) to 4096
void check_memory_limit(std::int64_t bytes, const char* where);     // 0 (the usual one) or more
void check_finite(double value, const std::string& where);          // neither infinite nor NaN
void check_not_nan(double value, const std::string& where);         // infinite: no limit
void check_enumerator(int value, int last, const char* enum_name);  // one of 0 ... last

// A number that was cast to an enum has no name, and a switch over the names would take it for any of them.
template <class Enum>
void check_named(Enum value, Enum last, const char* enum_name) {
  static_assert(std::is_enum_v<Enum>);
  check_enumerator(static_cast<int>(value), static_cast<int>(last), enum_name);
}

}  // namespace lepus

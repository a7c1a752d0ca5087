// SPDX-License-Identifier: Apache-2.0
#include "core/check_numbers.h"

#include <cmath>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_number(std::string what, std::string where, std::string why, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = std::move(where), .why = std::move(why), .hint = std::move(hint)});
}

}  // namespace

void check_threads(int threads) {
  constexpr int most = 4096;
  if (threads < 0 || threads > most)
    refuse_number(format("{} threads are not possible", threads), "option --threads", {},
                  "leave the option out to use every core");
}

void check_memory_limit(std::int64_t bytes, const char* where) {
  if (bytes < 0)
    refuse_number(format("{} bytes are no limit", bytes), where, {}, "leave it 0 for the usual limit, or give a size");
}

void check_finite(double value, const std::string& where) {
  if (!std::isfinite(value)) refuse_number(format("{} is no value", value), where, {}, "give a finite number");
}

void check_not_nan(double value, const std::string& where) {
  if (std::isnan(value)) refuse_number("what was given is not a number", where, {}, "give a number");
}

void check_enumerator(int value, int last, const char* enum_name) {
  if (value < 0 || value > last)
    refuse_number(format("there is no {} {}", enum_name, value), {}, format("its values are 0 to {}", last),
                  "use one of its names");
}

}  // namespace lepus

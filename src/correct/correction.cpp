// SPDX-License-Identifier: Apache-2.0
#include "correct/correction.h"

#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {

void warn(const ScanFacts& facts, const std::string& message) {
  if (facts.warning) facts.warning(message);
}

void refuse(const char* correction, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::usage, {.what = std::move(what),
                                 .where = format("correction \"{}\"", correction),
                                 .why = std::move(why),
                                 .hint = std::move(hint)});
}

void require_stage(const char* correction, const ScanFacts& facts, Stage wanted) {
  if (facts.stage == wanted) return;
  if (wanted == Stage::grey_levels)
    refuse(
        correction, "it works on grey levels, before the log", "the chain has placed it after the log",
        format("put \"{}\" before the corrections that work on line integrals, and set no stage for it", correction));
  refuse(correction, "it works on line integrals, after the log", "the chain has placed it before the log",
         format("put \"{}\" after the corrections that work on grey levels, and set no stage for it", correction));
}

}  // namespace lepus

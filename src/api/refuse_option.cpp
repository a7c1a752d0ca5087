// SPDX-License-Identifier: Apache-2.0
#include "api/refuse_option.h"

#include <lepus/error.h>

namespace lepus {

void refuse_option(const std::string& name, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option " + name, .why = {}, .hint = hint});
}

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "api/refuse_option.h"

#include <lepus/error.h>

namespace lepus {

void refuse_option(const std::string& name, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option " + name, .why = {}, .hint = hint});
}

void refuse_same_file(const std::filesystem::path& input, const std::filesystem::path& output) {
  std::error_code ignored;
  if (std::filesystem::equivalent(input, output, ignored))
    throw Error(ErrorKind::usage, {.what = "input and output are the same",
                                   .where = output.string(),
                                   .why = {},
                                   .hint = "give another name for the output"});
}

}  // namespace lepus

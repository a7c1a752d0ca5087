// SPDX-License-Identifier: Apache-2.0
#include "api/refuse_option.h"

#include <algorithm>
#include <cmath>

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

void require_name(const std::filesystem::path& file, const std::string& what) {
  if (file.empty())
    throw Error(ErrorKind::usage,
                {.what = "no " + what + " was named", .where = {}, .why = {}, .hint = "give the name of one"});
}

std::array<double, 6> box_of_option(const std::vector<double>& b, const std::string& option) {
  const bool numbers = std::ranges::all_of(b, [](double x) { return std::isfinite(x); });
  if (b.size() != 6 || !numbers || b[0] > b[1] || b[2] > b[3] || b[4] > b[5])
    refuse_option(option, "a box needs six numbers, each pair in order",
                  "write it as " + option + " x0,x1,y0,y1,z0,z1, in millimetres");
  return {b[0], b[1], b[2], b[3], b[4], b[5]};
}

}  // namespace lepus

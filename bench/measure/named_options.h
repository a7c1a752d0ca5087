// SPDX-License-Identifier: Apache-2.0
// Options of the programs that measure one thing: "--size 512 --sweep".
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lepus::measure {

// A list takes several values after its name. What is not given stays as it is.
struct NamedOption {
  const char* name;
  std::variant<bool*, int*, std::int64_t*, double*, std::string*, std::vector<int>*, std::vector<std::int64_t>*> value;
  const char* meaning = "";
};

// Ends the process after --help, and after an option that is not known or has no value, which it says.
void read_named_options(int count, char** words, const std::string& about, const std::vector<NamedOption>& options);

}  // namespace lepus::measure

// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/named_options.h"

#include <cstdlib>
#include <type_traits>

#include <CLI/CLI.hpp>

namespace lepus::measure {

void read_named_options(int count, char** words, const std::string& about, const std::vector<NamedOption>& options) {
  CLI::App app(about);
  for (const NamedOption& option : options)
    std::visit(
        [&](auto* value) {
          if constexpr (std::is_same_v<decltype(value), bool*>)
            app.add_flag(option.name, *value, option.meaning);
          else
            app.add_option(option.name, *value, option.meaning)->capture_default_str();
        },
        option.value);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));  // which says what is wrong
  }
}

}  // namespace lepus::measure

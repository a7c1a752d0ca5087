// SPDX-License-Identifier: Apache-2.0
#include "app/header_fields.h"

#include <algorithm>

#include "core/format.h"

namespace lepus::app {

std::string fields_text(const std::vector<HeaderField>& fields) {
  std::size_t name = 0, value = 0;
  constexpr std::size_t widest = 40;
  for (const HeaderField& field : fields) {
    name = std::max(name, std::min(widest, field.name.size()));
    value = std::max(value, std::min(widest, field.value.size()));
  }
  std::string text;
  for (const HeaderField& field : fields)
    text += field.use.empty() ? format("  {:<{}}  {}\n", field.name, name, field.value)
                              : format("  {:<{}}  {:<{}}  -> {}\n", field.name, name, field.value, value, field.use);
  return text;
}

}  // namespace lepus::app

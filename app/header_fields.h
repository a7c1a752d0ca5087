// SPDX-License-Identifier: Apache-2.0
// What a scanner's header says, for people.
#pragma once

#include <string>
#include <vector>

#include <lepus/header_field.h>

namespace lepus::app {

// A table of the fields: name, value, use.
std::string fields_text(const std::vector<HeaderField>& fields);

}  // namespace lepus::app

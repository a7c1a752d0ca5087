// SPDX-License-Identifier: Apache-2.0
// Text and pictures as they stand in an HTML page that needs no other file.
#pragma once

#include <string>

namespace lepus {

std::string base64(const std::string& bytes);
std::string html_text(const std::string& text);  // <, > and & as they are written in HTML

}  // namespace lepus

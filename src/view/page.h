// SPDX-License-Identifier: Apache-2.0
// The page, compiled into the program from web/dist: index.html, app.js, app.css.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lepus::view {

struct PageFile {
  std::string type;
  std::string_view bytes;
};
// By "/", "/app.js", "/app.css"; nothing else is there.
std::optional<PageFile> page_file(const std::string& path);

// Made by CMake (cmake/lepus_embed_page.cmake); empty where web/dist was not there.
extern const std::string_view page_html, page_script, page_style;

}  // namespace lepus::view

// SPDX-License-Identifier: Apache-2.0
#include "view/page.h"

namespace lepus::view {
namespace {

constexpr std::string_view placeholder =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>lepus view</title>"
    "<body><h1>lepus view</h1><p>This program was built without its page: web/dist was not there. "
    "The server works all the same: <a href=\"/api/session\">/api/session</a>.</p></body></html>";

}  // namespace

std::optional<PageFile> page_file(const std::string& path) {
  if (path == "/" || path == "/index.html")
    return PageFile{"text/html; charset=utf-8", page_html.empty() ? placeholder : page_html};
  if (path == "/app.js" && !page_script.empty()) return PageFile{"text/javascript; charset=utf-8", page_script};
  if (path == "/app.css" && !page_style.empty()) return PageFile{"text/css; charset=utf-8", page_style};
  return std::nullopt;
}

}  // namespace lepus::view

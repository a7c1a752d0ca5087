// SPDX-License-Identifier: Apache-2.0
// Who may ask. On loopback: a page of this very server, or a program on this machine; not another site's page, which a
// browser on this machine shows, nor a name that somebody else's DNS points here (DNS rebinding). When others on the
// network are let in: only with the token that was printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/request.h"

namespace lepus::view {

struct Guard {
  int port = 0;
  std::string token;               // "": none is needed, everybody is on this machine
  std::vector<std::string> names;  // that this machine is called by, beside addresses and localhost
};

// What the headers of a request say; "" where one is missing.
struct Visitor {
  std::string method = {}, host = {}, origin = {}, fetch_site = {}, authorization = {}, cookie = {}, content_type = {};
  std::string token = {};  // ?token=
};

// What a request that may not be answered gets instead.
std::optional<Answer> refused(const Guard& guard, const Visitor& visitor);

// "lepus_token_8790=..; HttpOnly; SameSite=Strict; Path=/"
std::string token_cookie(const Guard& guard);
// Whether the token came in the address, so that the cookie is to be set.
bool brings_token(const Guard& guard, const Visitor& visitor);

std::string new_token();  // 32 hexadecimal digits from the system

// The headers of every answer.
std::vector<std::pair<std::string, std::string>> safety_headers();

}  // namespace lepus::view

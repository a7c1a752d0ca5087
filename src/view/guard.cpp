// SPDX-License-Identifier: Apache-2.0
#include "view/guard.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sys/random.h>

#include "core/format.h"
#include "core/text.h"

namespace lepus::view {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "localhost:8790" -> "localhost"; "[::1]:8790" -> "[::1]"
std::string without_port(const std::string& host, const std::string& port) {
  const std::string end = ":" + port;
  return host.ends_with(end) ? host.substr(0, host.size() - end.size()) : host;
}

// A numeric address cannot be made to point here by a name server.
bool is_address(const std::string& host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return host.find_first_not_of("0123456789abcdef:.", 1) == host.size() - 1;
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string::npos;
}

bool is_our_name(const Guard& guard, const std::string& host) {
  const std::string name = without_port(lower(host), std::to_string(guard.port));
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return true;
  if (guard.token.empty()) return false;  // nobody else has a way here
  return is_address(name) || std::ranges::find(guard.names, name) != guard.names.end();
}

// Takes as long wherever they differ.
bool equal_secrets(const std::string& a, const std::string& b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

std::string cookie_name(const Guard& guard) { return format("lepus_token_{}", guard.port); }

bool has_token(const Guard& guard, const Visitor& visitor) {
  if (brings_token(guard, visitor)) return true;
  if (equal_secrets(visitor.authorization, "Bearer " + guard.token)) return true;
  const std::string wanted = cookie_name(guard) + "=" + guard.token;
  for (std::size_t at = 0; at < visitor.cookie.size();) {
    const std::size_t end = std::min(visitor.cookie.find(';', at), visitor.cookie.size());
    std::string cookie = visitor.cookie.substr(at, end - at);
    cookie.erase(0, std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (equal_secrets(cookie, wanted)) return true;
    at = end + 1;
  }
  return false;
}

Answer refusal(int status, const std::string& what, const std::string& why, const std::string& hint) {
  return answer_of_error(Refusal(status, {.what = what, .where = {}, .why = why, .hint = hint}));
}

}  // namespace

std::optional<Answer> refused(const Guard& guard, const Visitor& visitor) {
  if (!is_our_name(guard, visitor.host))
    return refusal(403, "this server does not go by that name", format("Host is '{}'", shown(visitor.host)),
                   guard.token.empty() ? "use the address that lepus view printed"
                                       : "use the address that lepus view printed, or this machine's number");
  if (!visitor.origin.empty() && lower(visitor.origin) != "http://" + lower(visitor.host))
    return refusal(403, "another site's page asks", format("Origin is '{}'", shown(visitor.origin)),
                   "open the viewer's own page");
  if (visitor.fetch_site == "cross-site" || visitor.fetch_site == "same-site")
    if (visitor.method != "GET" || visitor.token.empty())  // a link to the page with its token may stand anywhere
      return refusal(403, "another site's page asks", format("Sec-Fetch-Site is '{}'", visitor.fetch_site),
                     "open the viewer's own page");
  if (!guard.token.empty() && !has_token(guard, visitor))
    return refusal(401, "the token is missing or wrong", "others on the network can reach this server",
                   "open the address that lepus view printed, with its token");
  if (visitor.method != "GET" && visitor.method != "HEAD" && visitor.method != "POST")
    return refusal(405, "the server knows GET and POST alone", {}, "docs/view-protocol.md has all requests");
  if (visitor.method == "POST" && !lower(visitor.content_type).starts_with("application/json"))
    return refusal(415, "what is sent here is JSON", format("Content-Type is '{}'", shown(visitor.content_type)),
                   "send application/json");
  return std::nullopt;
}

bool brings_token(const Guard& guard, const Visitor& visitor) {
  return !guard.token.empty() && equal_secrets(visitor.token, guard.token);
}

std::string token_cookie(const Guard& guard) {
  return format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(guard), guard.token);
}

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorKind::internal, {.what = "the system gives no random numbers",
                                      .where = {},
                                      .why = "getrandom failed",
                                      .hint = "leave out --listen"});
  std::string token;
  for (const unsigned char byte : bytes) token += format("{:02x}", byte);
  return token;
}

std::vector<std::pair<std::string, std::string>> safety_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; "
           "connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

}  // namespace lepus::view

// SPDX-License-Identifier: Apache-2.0
#include "view/guard.h"

#include <gtest/gtest.h>

namespace lepus::view {
namespace {

int status(const Guard& guard, const Visitor& visitor) {
  const auto no = refused(guard, visitor);
  return no ? no->status : 200;
}

TEST(Guard, on_loopback_only_names_of_this_machine_are_answered) {
  const Guard guard{8790, "", {}};
  for (const char* host : {"localhost:8790", "127.0.0.1:8790", "LOCALHOST:8790", "[::1]:8790", "localhost"})
    EXPECT_EQ(status(guard, {.method = "GET", .host = host}), 200) << host;
  for (const char* host : {"", "evil.example:8790", "localhost.evil.example:8790", "localhost:80", "10.0.0.1:8790",
                           "127.0.0.1:8790.evil.example", "localhost:8790:8790"})
    EXPECT_EQ(status(guard, {.method = "GET", .host = host}), 403) << host;
}

TEST(Guard, pages_of_other_sites_are_refused) {
  const Guard guard{8790, "", {}};
  const auto from = [&](const char* origin, const char* site) {
    return status(guard, {.method = "GET", .host = "localhost:8790", .origin = origin, .fetch_site = site});
  };
  EXPECT_EQ(from("http://localhost:8790", "same-origin"), 200);
  EXPECT_EQ(from("", "none"), 200);
  EXPECT_EQ(from("http://evil.example", ""), 403);
  EXPECT_EQ(from("null", ""), 403);
  EXPECT_EQ(from("http://localhost:8791", ""), 403);
  EXPECT_EQ(from("https://localhost:8790", ""), 403);
  EXPECT_EQ(from("", "cross-site"), 403);
  EXPECT_EQ(from("", "same-site"), 403);
}

TEST(Guard, others_on_the_network_need_the_token) {
  const Guard guard{8790, "0123456789abcdef", {"scanner"}};
  Visitor visitor{.method = "GET", .host = "10.0.0.7:8790"};
  EXPECT_EQ(status(guard, visitor), 401);
  visitor.token = "0123456789abcdee";
  EXPECT_EQ(status(guard, visitor), 401);
  visitor.token = "0123456789abcdef";
  EXPECT_EQ(status(guard, visitor), 200);
  EXPECT_TRUE(brings_token(guard, visitor));
  visitor.token.clear();
  visitor.authorization = "Bearer 0123456789abcdef";
  EXPECT_EQ(status(guard, visitor), 200);
  visitor.authorization.clear();
  visitor.cookie = "other=1; lepus_token_8790=0123456789abcdef";
  EXPECT_EQ(status(guard, visitor), 200);
  visitor.cookie = "lepus_token_8791=0123456789abcdef";
  EXPECT_EQ(status(guard, visitor), 401);
  visitor.cookie = "lepus_token_8790=0123456789abcdef";
  visitor.host = "scanner:8790";
  EXPECT_EQ(status(guard, visitor), 200);
  visitor.host = "scanner.evil.example:8790";
  EXPECT_EQ(status(guard, visitor), 403);
}

TEST(Guard, only_json_is_posted_and_other_methods_are_unknown) {
  const Guard guard{8790, "", {}};
  Visitor visitor{.method = "POST", .host = "localhost:8790"};
  visitor.content_type = "text/plain";  // what a form of another site can send without asking
  EXPECT_EQ(status(guard, visitor), 415);
  visitor.content_type = "application/json";
  EXPECT_EQ(status(guard, visitor), 200);
  visitor.method = "DELETE";
  EXPECT_EQ(status(guard, visitor), 405);
}

TEST(Guard, tokens_differ) {
  EXPECT_EQ(new_token().size(), 32U);
  EXPECT_NE(new_token(), new_token());
}

}  // namespace
}  // namespace lepus::view

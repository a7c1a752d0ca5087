// SPDX-License-Identifier: Apache-2.0
// docs/scan-file.md says what the program does: its tables are those of the key table, and its examples are accepted.
// LEPUS_UPDATE_DOCS=1 scan_test --gtest_filter='ScanFilePage.*' writes the tables anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "scan/document.h"

namespace lepus {
namespace {

const std::string page_file = LEPUS_SOURCE_DIR "/docs/scan-file.md";
const std::string begin_mark = "<!-- begin: made by lepus scan-keys -->\n";
const std::string end_mark = "<!-- end: made by lepus scan-keys -->\n";

std::string page() {
  std::ifstream stream(page_file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(ScanFilePage, TablesAreThoseOfTheKeys) {
  const std::string text = page();
  const auto begin = text.find(begin_mark), end = text.find(end_mark);
  ASSERT_NE(begin, std::string::npos) << page_file;
  ASSERT_NE(end, std::string::npos);
  const auto tables = begin + begin_mark.size();
  if (std::getenv("LEPUS_UPDATE_DOCS"))
    std::ofstream(page_file) << text.substr(0, tables) << scan_keys_markdown() << text.substr(end);
  else
    EXPECT_TRUE(text.substr(tables, end - tables) == scan_keys_markdown())
        << "docs/scan-file.md is out of date; write its tables with\n  LEPUS_UPDATE_DOCS=1 scan_test "
           "--gtest_filter='ScanFilePage.*'";
}

TEST(ScanFilePage, ExamplesAreAccepted) {
  const std::string text = page(), fence = "```toml\n";
  int examples = 0;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    const std::string example = text.substr(at, text.find("```", at) - at);
    try {
      const ScanDocument document(example, "example.toml");
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << example;
    }
    ++examples;
  }
  EXPECT_GE(examples, 6);
}

}  // namespace
}  // namespace lepus

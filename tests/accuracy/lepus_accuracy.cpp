// SPDX-License-Identifier: Apache-2.0
// Prints the tables of docs/accuracy.md; with --write FILE it puts them into that page, between its markers.
// Returns 1 where a row misses its bar, 2 where the page cannot be used.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "tables.h"
#include <lepus/error.h>

namespace {

constexpr const char* begin_marker = "<!-- begin: made by lepus_accuracy -->\n";
constexpr const char* end_marker = "<!-- end: made by lepus_accuracy -->";

bool write_into(const std::string& page, const std::string& tables) {
  std::ifstream in(page);
  std::stringstream stream;
  stream << in.rdbuf();
  std::string text = stream.str();
  const std::size_t begin = text.find(begin_marker), end = text.find(end_marker);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return false;
  const std::size_t from = begin + std::string(begin_marker).size();
  text.replace(from, end - from, tables);
  std::ofstream out(page);
  out << text;
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  const bool write = argc == 3 && std::string(argv[1]) == "--write";
  if (argc != 1 && !write) {
    std::fprintf(stderr, "usage: lepus_accuracy [--write docs/accuracy.md]\n");
    return 2;
  }
  try {
    lepus::ThreadPool threads;
    const lepus::accuracy::Tables tables = lepus::accuracy::make_tables(threads);
    std::printf("%s", tables.markdown.c_str());
    if (write && !write_into(argv[2], tables.markdown)) {
      std::fprintf(stderr, "%s: the markers of lepus_accuracy are not there, or it cannot be written\n", argv[2]);
      return 2;
    }
    if (tables.missed > 0) std::fprintf(stderr, "%d values miss their bar\n", tables.missed);
    return tables.missed > 0 ? 1 : 0;
  } catch (const lepus::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

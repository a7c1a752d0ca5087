// SPDX-License-Identifier: Apache-2.0
#include "io/stl_file.h"

#include <cstring>
#include <functional>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "io/test_support.h"
#include <lepus/error.h>

namespace lepus {
namespace {

const std::vector<Triangle> two_triangles{{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
                                          {{{1, 2, 3}, {-4.5, 5, 6}, {7, 8.25, 9e-3F}}}};

std::string binary_of(const std::vector<Triangle>& triangles, const std::string& name = "solid in name only") {
  std::string bytes(80, ' ');
  bytes.replace(0, name.size(), name);
  const auto count = static_cast<std::uint32_t>(triangles.size());
  bytes.append(reinterpret_cast<const char*>(&count), 4);
  for (const Triangle& t : triangles)
    bytes += std::string(12, '\0') + std::string(reinterpret_cast<const char*>(&t), sizeof t) + std::string(2, '\0');
  return bytes;
}

std::string ascii_of() {
  return "solid part\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   VERTEX 1 0 0\n   vertex 0 1 0\n  endloop\n"
         " endfacet\n facet normal 0 0 0\r\n outer loop\n vertex 1 2 3\n vertex -4.5 5 6e0\n vertex 7 +8.25 9.0E-3\n"
         " endloop\n endfacet\nendsolid part\n";
}

struct StlTest : testing::Test {
  std::vector<Triangle> read(const std::string& bytes) {
    std::ofstream(folder / "a.stl", std::ios::binary) << bytes;
    return read_stl(folder / "a.stl");
  }
  void refused(const std::string& bytes, const std::string& why) {
    try {
      read(bytes);
      FAIL() << "was read: " << why;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  }
  test::TempFolder folder;
};

TEST_F(StlTest, ReadsBinaryAndAscii) {
  EXPECT_EQ(read(binary_of(two_triangles)), two_triangles);
  EXPECT_EQ(read(ascii_of()), two_triangles);
}

TEST_F(StlTest, RefusesWhatIsCutOff) {
  const std::string binary = binary_of(two_triangles, "from CAD"), ascii = ascii_of();
  for (std::size_t n = 0; n < binary.size(); n += 7) EXPECT_THROW(read(binary.substr(0, n)), Error) << n;
  for (std::size_t n = 0; n + 12 < ascii.size(); n += 5) EXPECT_THROW(read(ascii.substr(0, n)), Error) << n;
  refused(binary.substr(0, binary.size() - 1), "needs 184 bytes and has 183");
  refused(ascii.substr(0, ascii.size() - 14), "without 'endsolid'");
}

TEST_F(StlTest, RefusesNonsense) {
  refused(binary_of({}), "no triangle");
  refused("solid nothing\nendsolid\n", "no triangle");
  refused("", "0 bytes");
  refused(std::string(200, 'x'), "bytes and has 200");
  std::vector<Triangle> infinite = two_triangles;
  infinite[1][2][0] = std::numeric_limits<float>::infinity();
  refused(binary_of(infinite), "triangle 1");
  refused("solid\nfacet\nvertex 1 2 x\n", "'x' is no coordinate");
  refused("solid\nfacet\nvertex 1 2 3\nendfacet\nendsolid", "1 corners");
  refused("solid\nfacet\nvertex 1 2 3\nvertex 1 2 3\nvertex 1 2 3\nvertex 1 2 3\n", "four corners");
  refused("solid\nvertex 1 2 3\n", "no beginning");
  refused("solid\nfacet\nfacet\n", "no end");
}

}  // namespace
}  // namespace lepus

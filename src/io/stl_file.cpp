// SPDX-License-Identifier: Apache-2.0
// Binary: 80 bytes, the number of triangles (uint32), and 50 bytes for each: normal, three corners, two bytes. The size
// tells it from ASCII: binary files may begin with "solid", too.
#include "io/stl_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/format.h"
#include "core/input_file.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::int64_t header_bytes = 84, triangle_bytes = 50, triangles_at_once = 20000;

[[noreturn]] void throw_bad_stl(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorKind::input, {.what = "the surface cannot be read",
                                 .where = path.string(),
                                 .why = why,
                                 .hint = "export it again as STL, binary or ASCII, in millimetres"});
}

void require_finite(const Triangle& triangle, std::size_t number, const std::filesystem::path& path) {
  for (const auto& corner : triangle)
    for (const float c : corner)
      if (!std::isfinite(c)) throw_bad_stl(path, format("triangle {} has a corner that is not finite", number));
}

std::vector<Triangle> read_binary(const InputFile& file, std::int64_t count, const std::filesystem::path& path) {
  std::vector<Triangle> triangles;
  triangles.reserve(static_cast<std::size_t>(count));
  std::string bytes;
  for (std::int64_t first = 0; first < count; first += triangles_at_once) {
    const std::int64_t n = std::min(triangles_at_once, count - first);
    bytes.resize(static_cast<std::size_t>(n * triangle_bytes));
    file.read(header_bytes + first * triangle_bytes, bytes.data(), n * triangle_bytes);
    for (std::int64_t i = 0; i < n; ++i) {
      Triangle triangle;
      std::memcpy(&triangle, bytes.data() + i * triangle_bytes + 12, sizeof triangle);
      require_finite(triangle, triangles.size(), path);
      triangles.push_back(triangle);
    }
  }
  return triangles;
}

// Words of an ASCII file, in small letters.
class Words {
public:
  explicit Words(std::string_view text) : text_(text) {}
  // False at the end.
  bool next(std::string& word) {
    constexpr std::string_view blanks = " \t\r\n\f\v";
    const std::size_t begin = text_.find_first_not_of(blanks, at_);
    if (begin == std::string_view::npos) return false;
    at_ = std::min(text_.find_first_of(blanks, begin), text_.size());
    word.assign(text_.substr(begin, at_ - begin));
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return true;
  }

private:
  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<Triangle> read_ascii(const std::string& text, const std::filesystem::path& path) {
  std::vector<Triangle> triangles;
  Words words(text);
  std::string word;
  std::size_t corners = 0;  // of the facet in hand
  bool in_facet = false, ended = false;
  Triangle triangle{};
  const auto number = [&] {
    float value = 0;
    const bool there = words.next(word);
    const char* const end = word.data() + word.size();
    if (!there || std::from_chars(word.data() + (word.starts_with('+') ? 1 : 0), end, value).ptr != end)
      throw_bad_stl(path, there ? format("'{}' is no coordinate, in triangle {}", shown(word), triangles.size())
                                : "it ends within a corner");
    return value;
  };
  while (words.next(word)) {
    if (word == "facet") {
      if (in_facet) throw_bad_stl(path, format("triangle {} has no end", triangles.size()));
      in_facet = true;
      corners = 0;
    } else if (word == "vertex") {
      if (!in_facet || corners == 3)
        throw_bad_stl(path, format("triangle {} has {}", triangles.size(), in_facet ? "four corners" : "no beginning"));
      for (float& c : triangle[corners]) c = number();
      ++corners;
    } else if (word == "endfacet") {
      if (!in_facet || corners != 3)
        throw_bad_stl(path, format("triangle {} has {} corners", triangles.size(), corners));
      require_finite(triangle, triangles.size(), path);
      triangles.push_back(triangle);
      in_facet = false;
    } else if (word == "endsolid") {
      ended = true;
    }
  }
  if (in_facet || !ended)
    throw_bad_stl(path, format("it ends after {} triangles without 'endsolid'", triangles.size()));
  return triangles;
}

}  // namespace

std::vector<Triangle> read_stl(const std::filesystem::path& path) {
  const InputFile file(path);
  std::array<char, header_bytes> head{};
  const std::int64_t known = std::min(file.size(), header_bytes);
  file.read(0, head.data(), known);
  std::uint32_t count = 0;
  std::memcpy(&count, head.data() + 80, 4);
  const std::int64_t wanted = header_bytes + triangle_bytes * std::int64_t{count};
  const bool solid = std::string_view(head.data(), static_cast<std::size_t>(known)).starts_with("solid");
  std::vector<Triangle> triangles;
  if (known == header_bytes && file.size() == wanted) {
    triangles = read_binary(file, count, path);
  } else if (solid) {
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, text.data(), file.size());
    triangles = read_ascii(text, path);
  } else {
    throw_bad_stl(path, known < header_bytes
                            ? format("it has {} bytes", file.size())
                            : format("for {} triangles it needs {} bytes and has {}", count, wanted, file.size()));
  }
  if (triangles.empty()) throw_bad_stl(path, "it holds no triangle");
  return triangles;
}

}  // namespace lepus

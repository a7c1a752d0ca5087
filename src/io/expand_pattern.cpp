// SPDX-License-Identifier: Apache-2.0
// File patterns -> sorted lists of files: "frames/*.tif", "frames" (a folder: its TIFF files), "scan.h5".
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fnmatch.h>
#include <unistd.h>

#include "core/folder.h"
#include "core/format.h"
#include "io/frame_sources.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "a2" < "a10": runs of digits compare as numbers of any length, everything else as bytes.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t p = i, q = j;
      while (p < a.size() && a[p] == '0') ++p;
      while (q < b.size() && b[q] == '0') ++q;
      std::size_t p_end = p, q_end = q;
      while (p_end < a.size() && is_digit(a[p_end])) ++p_end;
      while (q_end < b.size() && is_digit(b[q_end])) ++q_end;
      if (p_end - p != q_end - q) return p_end - p < q_end - q;
      const int order = a.compare(p, p_end - p, b, q, q_end - q);
      if (order != 0) return order < 0;
      i = p_end;
      j = q_end;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "01" and "1": any fixed order
}

[[noreturn]] void throw_nothing(const fs::path& where, const std::string& why) {
  throw Error(
      ErrorKind::input,
      {.what = "no files found", .where = where.string(), .why = why, .hint = "check the folder and the pattern"});
}

std::vector<fs::path> matching(const fs::path& folder, const std::string& pattern) {
  if (::access(folder.c_str(), R_OK) != 0)
    throw_nothing(folder, format("the folder cannot be read: {}", std::strerror(errno)));
  std::vector<fs::path> found = entries_of(folder);
  std::erase_if(found, [&](const fs::path& file) {
    return ::fnmatch(pattern.c_str(), file.filename().c_str(), FNM_PERIOD) != 0;
  });
  return found;
}

}  // namespace

bool has_wildcard(const std::string& name) { return name.find_first_of("*?[") != std::string::npos; }

std::vector<fs::path> expand_pattern(const fs::path& folder, const std::string& pattern) {
  const fs::path whole = folder / pattern;
  std::vector<fs::path> files;
  std::error_code code;
  if (fs::is_directory(whole, code)) {
    for (const fs::path& file : matching(whole, "*"))
      if (is_tiff_name(file) && !fs::is_directory(file, code)) files.push_back(file);
    if (files.empty()) throw_nothing(whole, "the folder has no TIFF files");
  } else if (fs::exists(whole, code)) {
    return {whole};  // a name may contain brackets
  } else if (has_wildcard(pattern)) {
    // Wildcards in the names of folders too: each part of the path widens the list of folders.
    std::vector<fs::path> folders{folder};
    const fs::path relative(pattern);
    for (const fs::path& part : relative) {
      std::vector<fs::path> next;
      for (const fs::path& base : folders) {
        if (!has_wildcard(part.string()) || fs::exists(base / part, code)) {
          next.push_back(base / part);
        } else if (fs::is_directory(base.empty() ? fs::path(".") : base, code)) {
          for (const fs::path& file : matching(base.empty() ? fs::path(".") : base, part.string()))
            next.push_back(file);
        }
      }
      folders = std::move(next);
    }
    for (const fs::path& file : folders)
      if (fs::exists(file, code) && !fs::is_directory(file, code)) files.push_back(file);
    if (files.empty()) throw_nothing(whole, "no file matches the pattern");
  } else {
    throw_nothing(whole, "there is no such file or folder");
  }
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return natural_less(a.string(), b.string()); });
  return files;
}

}  // namespace lepus

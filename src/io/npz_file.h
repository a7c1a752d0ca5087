// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz: a ZIP archive, not compressed, of one .npy per array (numpy.lib.format, version 1.0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/output_file.h"
#include "io/zip_archive.h"

namespace lepus {

struct NpzArray {
  std::string name;        // without .npy
  std::string type;        // as NumPy writes it: "<i8"
  std::int64_t count = 0;  // of a vector; -1: a single value
  const void* data = nullptr;
  std::int64_t bytes = 0;
};

inline NpzArray npz_array(std::string name, const float* data, std::size_t count) {
  return {std::move(name), "<f4", static_cast<std::int64_t>(count), data, static_cast<std::int64_t>(count * 4)};
}
inline NpzArray npz_array(std::string name, const std::int64_t* data, std::size_t count) {
  return {std::move(name), "<i8", static_cast<std::int64_t>(count), data, static_cast<std::int64_t>(count * 8)};
}
inline NpzArray npz_array(std::string name, const double* data, std::size_t count) {
  return {std::move(name), "<f8", static_cast<std::int64_t>(count), data, static_cast<std::int64_t>(count * 8)};
}
// Plain characters; the text must live until it is written.
inline NpzArray npz_text(std::string name, const char* text) {
  const std::string copy = text;
  return {std::move(name), "|S" + std::to_string(copy.size()), -1, text, static_cast<std::int64_t>(copy.size())};
}

// One more array at the end of an archive, whose directory is `entries`.
void append_npz_array(PartialFile& out, const NpzArray& array, std::vector<ZipEntry>& entries);

// Throws Error(disk) where the file exists (unless forced) or cannot be written.
void write_npz_file(const std::filesystem::path& file, bool force, const std::vector<NpzArray>& arrays);

}  // namespace lepus

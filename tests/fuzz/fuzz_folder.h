// SPDX-License-Identifier: Apache-2.0
// Where the fuzzers put the files that they make: in TMPDIR, or else in memory (/dev/shm) where there is such a folder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "memory_files.h"

namespace lepus::fuzz {

namespace fs = std::filesystem;

// One folder per process, removed when it ends.
class Folder {
public:
  Folder() {
    const bool in_memory = !std::getenv("TMPDIR") && fs::is_directory("/dev/shm");
    const fs::path base = in_memory ? fs::path("/dev/shm") : fs::temp_directory_path();
    path_ = base / ("lepus_fuzz_" + std::to_string(::getpid()));
    fs::create_directories(path_);
    if (memory_files) memory_files()->closed_folder(path_, true);
  }
  ~Folder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }

  // Where a target may write its own files.
  const fs::path& open_to_all() const {
    if (memory_files) memory_files()->closed_folder(path_, false);
    return path_;
  }

  // A file to be read. Fuzzers write it into memory; the folder lists what was there the first time.
  fs::path write(const std::string& name, std::string_view bytes) const {
    fs::path file = path_ / name;
    if (!memory_files || !memory_files()->has(file)) write_on_disk(file, bytes);
    if (memory_files) memory_files()->write(file, bytes);
    return file;
  }

  // What is there already is written over and cut to its new length: half the time of a new file.
  static void write_on_disk(const fs::path& file, std::string_view bytes) {
    int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    if (descriptor < 0) {
      fs::create_directories(file.parent_path());
      descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    }
    const auto length = static_cast<::off_t>(bytes.size());
    // Without its file a target would try nothing, and nobody would notice.
    if (descriptor < 0 || ::write(descriptor, bytes.data(), bytes.size()) != length ||
        ::ftruncate(descriptor, length) != 0)
      std::abort();
    ::close(descriptor);
  }

  void remove(const std::string& name) const {
    const fs::path file = path_ / name;
    if (memory_files) {
      if (!memory_files()->has(file)) return;
      memory_files()->forget(file);
    }
    ::unlink(file.c_str());
  }

private:
  fs::path path_;
};

inline const Folder& folder() {
  static const Folder one;
  return one;
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Several files in one input: takes the text up to the separator off `rest`.
inline std::string_view take_part(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

}  // namespace lepus::fuzz

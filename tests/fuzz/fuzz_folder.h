// SPDX-License-Identifier: Apache-2.0
// Where the fuzzers put the files that they make: in memory (/dev/shm) where there is such a folder.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace lepus::fuzz {

namespace fs = std::filesystem;

// One folder per process, removed when it ends.
class Folder {
public:
  Folder() {
    const fs::path base = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    path_ = base / ("lepus_fuzz_" + std::to_string(::getpid()));
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  fs::path write(const std::string& name, const void* data, std::size_t size) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::FILE* out = std::fopen(file.c_str(), "wb");
    if (out) {
      std::fwrite(data, 1, size, out);
      std::fclose(out);
    }
    return file;
  }

private:
  fs::path path_;
};

inline const Folder& folder() {
  static const Folder one;
  return one;
}

}  // namespace lepus::fuzz

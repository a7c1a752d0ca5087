// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a temporary folder with headers and tiny frames.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/format.h"
#include "import/import_scan.h"
#include "io/frames.h"
#include <lepus/error.h>

namespace lepus::import_test {

namespace fs = std::filesystem;

struct Pixel {
  double u, v;
};

class Folder {
public:
  Folder() {
    static int count = 0;
    path_ = fs::temp_directory_path() / format("lepus_import_test_{}_{}", ::getpid(), count++);
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  // 8 x 6 pixels, uint16: "scan_%04d.tif", counted from 0.
  void frames(const std::string& pattern, std::int64_t count) const {
    fs::create_directories((path_ / pattern).parent_path());
    const auto out =
        create_frames(path_ / pattern,
                      {.columns = 8, .rows = 6, .frames = count, .type = PixelType::u16, .force = true, .dataset = {}});
    const std::vector<std::uint16_t> pixels(48, 1000);
    for (std::int64_t i = 0; i < count; ++i) out->write(pixels.data());
    out->finish();
  }
  Scan scan() const { return read_imported(path_); }
  // The scan file, with numbers that go before those of the header; `name` where several headers lie there.
  std::string text(const GivenNumbers& given = {}, const std::string& name = {}) const {
    return scan_file_text(import_place(name.empty() ? path_ : path_ / name, given), path_);
  }

  // The error that importing gives; fails the test where there is none.
  Error error() const {
    try {
      read_imported(path_);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return Error(ErrorKind::internal, {});
  }

private:
  fs::path path_;
};

inline void expect_says(const Error& error, const std::string& part) {
  EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "\"" << part << "\" is not in " << error.what();
}

inline void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in\n" << text;
}

// `text` with the value of one field replaced; "" removes the line.
inline std::string with_field(std::string text, const std::string& name, const std::string& value) {
  const std::size_t at = text.find("\n" + name + "=");
  if (at == std::string::npos) return text + name + "=" + value + "\n";
  const std::size_t end = text.find('\n', at + 1);
  return text.replace(at, end - at, value.empty() ? "" : "\n" + name + "=" + value);
}

}  // namespace lepus::import_test

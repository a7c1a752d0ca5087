// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a temporary folder with a small raw scan, and the error that a scan file gives.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/format.h"
#include "scan/scan.h"
#include <lepus/error.h>

namespace lepus::scan_test {

// 12 frames of 16 x 8 pixels, uint16, in one raw file.
inline constexpr std::int64_t frames = 12, columns = 16, rows = 8;

class ScanFolder {
public:
  ScanFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() / format("lepus_scan_test_{}_{}", ::getpid(), count++);
    std::filesystem::create_directories(path_);
    write_raw("frames.raw", columns * rows * frames);
  }
  ~ScanFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScanFolder(const ScanFolder&) = delete;
  ScanFolder& operator=(const ScanFolder&) = delete;

  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  void write_text(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
  }
  void write_raw(const std::string& name, std::int64_t pixels) const {
    const std::vector<std::uint16_t> data(static_cast<std::size_t>(pixels), 1000);
    std::filesystem::create_directories(file(name).parent_path());
    std::ofstream(file(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size() * 2));
  }
  Scan read(const std::string& toml) const { return read_scan_text(toml, file("scan.toml")); }

  // The error that this text gives; fails the test where there is none.
  Error error(const std::string& toml) const {
    try {
      read(toml);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error from\n" << toml;
    return Error(ErrorKind::internal, {});
  }

private:
  std::filesystem::path path_;
};

// The parts that every test shares; [frames] and [geometry] can be extended by what is put behind them.
inline const std::string frames_text =
    "[frames.raw]\ncolumns = 16\nrows = 8\n[intensity]\nfrom = \"value\"\nvalue = 60000\n[frames]\nfiles = "
    "\"frames.raw\"\n";
inline const std::string cone_text =
    "[geometry]\nsource_axis_mm = 100\nsource_detector_mm = 200\npixel_width_mm = 1.0\n";
inline const std::string scan_text = frames_text + cone_text;

inline int line_of(const std::string& text, const std::string& part) {
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(part)), '\n'));
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in \"" << text << "\"";
}

// All parts of a message: a piece of each, and the place of `key` in the text ("" stands for the file alone).
inline void expect_error(const Error& error, const std::string& toml, const std::string& key, const std::string& what,
                         const std::string& why, const std::string& hint) {
  expect_contains(error.parts().what, what);
  expect_contains(error.parts().why, why);
  expect_contains(error.parts().hint, hint);
  expect_contains(error.parts().where, "scan.toml");
  if (!key.empty()) expect_contains(error.parts().where, format("scan.toml:{}", line_of(toml, key)));
}

}  // namespace lepus::scan_test

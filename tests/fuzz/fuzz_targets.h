// SPDX-License-Identifier: Apache-2.0
// What the fuzzers call: the bytes of a file -> opened and read as lepus would. Any result is fine but a crash, a hang,
// a sanitizer's report, or an exception other than lepus::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lepus::fuzz {

struct Target {
  const char* name;  // that of its corpus, too
  void (*read)(const std::uint8_t* data, std::size_t size);
};

// Those of the program: readers of frames and volumes (reader_targets.cpp), of scanners' headers and scan files
// (scanner_targets.cpp), or requests to the viewer (view_targets.cpp). A program is linked with one of the three.
std::span<const Target> targets();

}  // namespace lepus::fuzz

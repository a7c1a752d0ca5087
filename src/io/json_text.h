// SPDX-License-Identifier: Apache-2.0
// The JSON that lepus keeps beside (or inside) pixels: size, type, grid, unit, provenance. docs/formats.md lists the
// keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/frames.h"
#include "io/stack.h"

namespace lepus {

// Any JSON -> one line of ASCII without a newline; "" stays "". Error(internal) where it is not JSON.
std::string one_line_json(const std::string& json);
bool is_json(const std::string& text, const std::string& where);  // Error(input) where it is nested too deeply

struct StackDescription {
  StackShape shape;
  StackText text;
  std::int64_t header_bytes = 0;
  bool big_endian = false;
  std::string provenance;
};
std::string to_json(const StackDescription& description, bool pretty);
bool is_volume_json(const std::string& text);  // by its first words, which are those of to_json
// Throws Error(input) naming `where` for anything that does not describe a stack.
StackDescription stack_from_json(const std::string& json, const std::string& where);

std::filesystem::path side_car_of(const std::filesystem::path& path);  // "volume.raw.json"

// What the side-car of a raw file says. Throws Error(input) where there is none.
StackDescription read_raw_side_car(const std::filesystem::path& raw_file);
RawLayout raw_layout(const StackDescription& description);

// {"lepus": "provenance", "provenance": ...}: for formats whose header was too small for it.
std::string provenance_side_car(const std::string& provenance);
std::string read_provenance_side_car(const std::filesystem::path& path);  // "" where there is none or it is not ours

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
// What the readers and writers of geometry files share: a whole file as text, numbers in any layout, `key="value"`
// notes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/exchange.h"

namespace lepus {

[[noreturn]] void refuse_text(std::string what, std::string where, std::string why, std::string hint);  // Error(input)
std::string read_text(const std::filesystem::path& path);

// A finite number that fills `text` apart from white space; throws Error(input) with `where`.
double parse_number(std::string_view text, const std::string& where);
// All numbers separated by white space, commas or semicolons; lines from '#' on are left out. Errors name the line.
std::vector<double> parse_numbers(std::string_view text, const std::string& where);

// key="value" pairs in a comment that begins with `mark`, for what a format itself has no place for.
using Notes = std::map<std::string, std::string>;
Notes parse_notes(std::string_view text, std::string_view mark);

// What the caller says, else what the file's notes say. Throws Error(usage) where the size of the frames is in neither,
// Error(input) where they say something else.
struct FrameLayout {
  std::int64_t columns, rows;
  double pixel_width_mm, pixel_height_mm;
  bool first_row_on_top;
};
FrameLayout frame_layout(const GeometryFileOptions& options, const Notes& notes, const std::string& where);
std::string beam_name(Beam beam);
Beam parse_beam(const std::string& name, const std::string& where);

// One function pair per format, on text; `name` is the file's, for messages.
ScanGeometry parse_rtk(const std::string& text, const std::string& name, const GeometryFileOptions& options);
ScanGeometry parse_astra(const std::string& text, const std::string& name, const GeometryFileOptions& options);
ScanGeometry parse_tigre(const std::string& text, const std::string& name, const GeometryFileOptions& options);
ScanGeometry parse_matrices(const std::string& text, const std::string& name, const GeometryFileOptions& options);
ScanGeometry parse_xrad(const std::string& text, const std::string& name, const GeometryFileOptions& options);
std::string format_rtk(const ScanGeometry& geometry, const GeometryFileOptions& options);
std::string format_astra(const ScanGeometry& geometry, const GeometryFileOptions& options);
std::string format_tigre(const ScanGeometry& geometry);
std::string format_matrices(const ScanGeometry& geometry, const GeometryFileOptions& options);

}  // namespace lepus

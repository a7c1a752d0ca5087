// SPDX-License-Identifier: Apache-2.0
// Pieces that the text headers of MetaImage and NRRD share: numbers, lists, and the check of what they claim.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/frames.h"
#include <lepus/geometry.h>

namespace lepus {

std::string_view trimmed(std::string_view text);
// Throw Error(input) naming the file and the key where `text` is anything else.
std::vector<double> parse_numbers(std::string_view text, const std::string& key, const std::filesystem::path& file);
std::vector<std::int64_t> parse_integers(std::string_view text, const std::string& key,
                                         const std::filesystem::path& file);

[[noreturn]] void throw_bad_header(const std::filesystem::path& file, const std::string& why);
[[noreturn]] void throw_unsupported_header(const std::filesystem::path& file, const std::string& why,
                                           const std::string& hint);

// Throws Error(input) where a grid read from a file has no voxels, too many, or steps that are not usable.
void check_grid(const VolumeGrid& grid, PixelType type, const std::filesystem::path& file);

// "um" -> 0.001, of the names and signs that headers have for lengths; nothing where it is none of them.
std::optional<double> millimetres_in(const std::string& unit);
// The same where the words for an unknown unit stand for millimetres. Error(unsupported) where it is no length.
double length_unit_mm(const std::string& unit, const std::string& key, const std::filesystem::path& file);

// "1 0.5 -3", shortest digits that read back to the same doubles.
std::string joined(Vec3 v, const char* separator);

// A data file named in a header, relative to the header's folder; Error(input) where it lies outside of that.
std::filesystem::path beside(const std::filesystem::path& header, const std::string& name);

}  // namespace lepus

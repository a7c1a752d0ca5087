// SPDX-License-Identifier: Apache-2.0
// An image between a header and a tail of "name value" lines, as laboratory systems write sinograms and slices. Which
// lines there may be, of which type, and which there must be, a LabelledLayout says; everything else is an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/frames.h"

namespace lepus {

struct Label {
  std::string name, value;
  int line = 0;  // in its part of the file, counted from 1
};

struct LabelledImage {
  std::vector<Label> header, tail;  // in the order of the file
  std::int64_t columns = 0, lines = 0;
  std::int64_t number = 0;                          // as number_from says it
  std::int64_t pixels_offset = 0, tail_offset = 0;  // in bytes

  const Label* find(std::string_view name) const;  // of the header, or else of the tail
};

// "columns integer required", "sample text". Error(input) that says how it is written.
LabelRule parse_label_rule(const std::string& words);
std::string words_of(const LabelRule& rule);

// Error(input) where the layout itself cannot be: a name twice, a size that is not a required integer.
void check_layout(const LabelledLayout& layout);

// Header, tail and, of binary pixels, their number are checked; the numbers of a text when they are read. Error(input)
// names the file and the line.
LabelledImage read_labelled_image(const std::filesystem::path& path, const LabelledLayout& layout);

// Lines of a header or a tail.
std::string label_lines(const std::vector<Label>& labels);
// `count` pixels as the shortest numbers that read back the same, in one line.
std::string text_of_pixels(PixelType type, const void* pixels, std::int64_t count);

}  // namespace lepus

// SPDX-License-Identifier: Apache-2.0
#include "scan/image_ranges.h"

#include <charconv>
#include <string_view>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void bad_ranges(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::input, {.what = format("\"{}\" does not say which images", text.substr(0, 80)),
                                 .where = {},
                                 .why = why,
                                 .hint = "write ranges as \"0..9, 190..199\", both ends included, counted from 0"});
}

[[noreturn]] void bad_image_key(const std::string& why, const std::string& hint) {
  throw Error(ErrorKind::input, {.what = "the image keys cannot be used", .where = {}, .why = why, .hint = hint});
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

std::int64_t image_number(std::string_view word, const std::string& text) {
  word = without_blanks(word);
  std::int64_t number = -1;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || end != word.data() + word.size() || number < 0)
    bad_ranges(text, format("\"{}\" is not the number of an image", word.substr(0, 40)));
  return number;
}

}  // namespace

std::vector<std::int64_t> parse_image_ranges(const std::string& text, std::int64_t available) {
  std::vector<std::int64_t> images;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view range = rest.substr(0, comma);
    rest.remove_prefix(more ? comma + 1 : rest.size());
    const std::size_t dots = range.find("..");
    const std::int64_t first = image_number(range.substr(0, dots), text);
    const std::int64_t last = dots == std::string_view::npos ? first : image_number(range.substr(dots + 2), text);
    if (last < first || (!images.empty() && first <= images.back())) bad_ranges(text, "the numbers do not ascend");
    if (last >= available)
      bad_ranges(text, format("image {} is past the end: the files hold {} (0 to {})", last, available, available - 1));
    for (std::int64_t i = first; i <= last; ++i) images.push_back(i);
  }
  return images;
}

ImageKeys sort_image_keys(const std::vector<double>& keys, std::int64_t images) {
  if (static_cast<std::int64_t>(keys.size()) != images)
    bad_image_key(format("there are {} keys for {} images", keys.size(), images), "name the dataset of these images");
  ImageKeys sorted;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (keys[i] == 0)
      sorted.frames.push_back(index);
    else if (keys[i] == 1)
      sorted.flats.push_back(index);
    else if (keys[i] == 2)
      sorted.darks.push_back(index);
    else if (keys[i] != 3)
      bad_image_key(format("key {} is {}", i, keys[i]), "keys are 0 (frame), 1 (flat), 2 (dark) and 3 (invalid)");
  }
  if (sorted.frames.empty()) bad_image_key("none of the images is a frame", "a frame has the key 0");
  return sorted;
}

}  // namespace lepus

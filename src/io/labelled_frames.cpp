// SPDX-License-Identifier: Apache-2.0
// The pixels of labelled images. Binary ones are plain; those of a text are counted from its first number to the wanted
// lines every time, in small pieces, so that no sinogram need fit in memory.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/format.h"
#include "core/text.h"
#include "io/frame_sources.h"
#include "io/labelled_image.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

// The words of a part of a file, one after another.
class Words {
public:
  Words(const InputFile& file, std::int64_t begin, std::int64_t end) : file_(file), at_(begin), end_(end) {}

  // Empty where there are no more; valid until the next call.
  std::string_view next() {
    for (;;) {
      while (read_ < piece_.size() && is_blank(piece_[read_])) ++read_;
      std::size_t stop = read_;
      while (stop < piece_.size() && !is_blank(piece_[stop])) ++stop;
      if (stop < piece_.size() || at_ == end_) {
        const std::string_view word = std::string_view(piece_).substr(read_, stop - read_);
        read_ = stop;
        return word;
      }
      if (stop - read_ > longest_word) return std::string_view(piece_).substr(read_, longest_word);
      fill();
    }
  }

private:
  static constexpr std::size_t longest_word = 400;  // no number is written with more digits
  static constexpr std::int64_t piece_bytes = std::int64_t{256} << 10;

  void fill() {  // keeps the word that was cut
    piece_.erase(0, read_);
    read_ = 0;
    const std::int64_t count = std::min(piece_bytes, end_ - at_);
    const std::size_t kept = piece_.size();
    piece_.resize(kept + static_cast<std::size_t>(count));
    file_.read(at_, piece_.data() + kept, count);
    at_ += count;
  }

  const InputFile& file_;
  std::int64_t at_, end_;
  std::string piece_;
  std::size_t read_ = 0;
};

template <class Pixel>
bool parse_pixel(std::string_view word, void* out) {
  if (word.size() > 1 && word.front() == '+') word.remove_prefix(1);
  Pixel pixel{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), pixel);
  std::memcpy(out, &pixel, sizeof pixel);
  return code == std::errc() && end == word.data() + word.size();
}

template <class Pixel>
void append_pixels(const void* pixels, std::int64_t count, std::string& text) {
  for (std::int64_t i = 0; i < count; ++i) {
    Pixel pixel{};
    std::memcpy(&pixel, static_cast<const char*>(pixels) + i * static_cast<std::int64_t>(sizeof pixel), sizeof pixel);
    char digits[64];
    const auto [end, code] = std::to_chars(digits, digits + sizeof digits, pixel);
    text.append(digits, end);
    text += i + 1 < count ? ' ' : '\n';
  }
}

// Calls act.operator()<Pixel>() with the type of a pixel.
template <class Act>
auto with_pixel(PixelType type, const Act& act) {
  switch (type) {
    case PixelType::u8:
      return act.template operator()<std::uint8_t>();
    case PixelType::i8:
      return act.template operator()<std::int8_t>();
    case PixelType::u16:
      return act.template operator()<std::uint16_t>();
    case PixelType::i16:
      return act.template operator()<std::int16_t>();
    case PixelType::u32:
      return act.template operator()<std::uint32_t>();
    case PixelType::i32:
      return act.template operator()<std::int32_t>();
    case PixelType::f64:
      return act.template operator()<double>();
    default:
      return act.template operator()<float>();
  }
}

class TextFrames final : public FrameSource {
public:
  TextFrames(const std::vector<fs::path>& files, std::vector<LabelledImage> images, PixelType type)
      : files_(files), images_(std::move(images)), type_(type) {}

  std::int64_t columns() const override { return images_.front().columns; }
  std::int64_t rows() const override { return images_.front().lines; }
  std::int64_t frames() const override { return static_cast<std::int64_t>(images_.size()); }
  PixelType pixel_type() const override { return type_; }
  std::string name(std::int64_t frame) const override { return files_.path(static_cast<std::size_t>(frame)).string(); }

  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    check_band(*this, frame, row0, row1);
    const auto file = files_.open(static_cast<std::size_t>(frame));
    const LabelledImage& image = images_[static_cast<std::size_t>(frame)];
    Words words(*file, image.pixels_offset, image.tail_offset);
    for (std::int64_t i = 0; i < row0 * image.columns; ++i)
      if (words.next().empty()) fail(frame, i, "the file is cut off", "there are no more numbers");
    with_pixel(type_, [&]<class Pixel>() {
      auto* pixel = static_cast<char*>(out);
      for (std::int64_t i = row0 * image.columns; i < row1 * image.columns; ++i, pixel += sizeof(Pixel)) {
        const std::string_view word = words.next();
        if (word.empty()) fail(frame, i, "the file is cut off", "there are no more numbers");
        if (!parse_pixel<Pixel>(word, pixel))
          fail(frame, i, format("a pixel is no {}", name_of(type_)), format("it is \"{}\"", shown(word)));
      }
    });
    if (row1 < rows()) return;
    if (const std::string_view more = words.next(); !more.empty())
      fail(frame, rows() * columns(), "there are more numbers than the header says", format("\"{}\"", shown(more)));
  }

private:
  [[noreturn]] void fail(std::int64_t frame, std::int64_t pixel, std::string what, const std::string& why) const {
    throw Error(ErrorKind::input, {.what = std::move(what),
                                   .where = format("{}, pixel {} of {}", name(frame), pixel, rows() * columns()),
                                   .why = why,
                                   .hint = "copy the file again, or check the layout that the scan file gives"});
  }

  InputFiles files_;
  std::vector<LabelledImage> images_;
  PixelType type_;
};

}  // namespace

std::string text_of_pixels(PixelType type, const void* pixels, std::int64_t count) {
  std::string text;
  with_pixel(type, [&]<class Pixel>() { append_pixels<Pixel>(pixels, count, text); });
  return text;
}

std::unique_ptr<FrameSource> open_labelled_frames(const std::vector<fs::path>& files, const LabelledLayout& layout) {
  check_layout(layout);
  std::vector<LabelledImage> images;
  for (const fs::path& file : files) {
    images.push_back(read_labelled_image(file, layout));
    const LabelledImage &first = images.front(), &image = images.back();
    if (image.columns != first.columns || image.lines != first.lines)
      throw_other_size(file.string(), describe(first.columns, first.lines, layout.type),
                       describe(image.columns, image.lines, layout.type), files.front().string());
    const std::int64_t expected = first.number + static_cast<std::int64_t>(images.size()) - 1;
    if (!layout.number_from.empty() && image.number != expected)
      throw Error(ErrorKind::input,
                  {.what = "the images do not follow each other",
                   .where = file.string(),
                   .why = format("{} is {}, {} is expected", layout.number_from, image.number, expected),
                   .hint = "is a file missing, or are two scans mixed?"});
  }
  if (layout.text_pixels) return std::make_unique<TextFrames>(files, std::move(images), layout.type);
  PlainImages plain;
  plain.files = files;
  plain.columns = images.front().columns;
  plain.rows = images.front().lines;
  plain.type = layout.type;
  plain.big_endian = layout.big_endian;
  for (std::size_t i = 0; i < files.size(); ++i)
    plain.runs.push_back({.file = i, .offset = images[i].pixels_offset, .count = 1, .label = {}, .alone = true});
  return plain_frames(std::move(plain));
}

}  // namespace lepus
